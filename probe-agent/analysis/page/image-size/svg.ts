import type { Element } from "domhandler";
import { parseDocument, walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import type { PixelSize } from "#probe-agent/analysis/page/image-size/octets.ts";

/** Number of bytes within which the root element must start. */
const HEAD = 64 * 1024;
/** CSS pixels per unit (CSS Values 4, section 6.2). */
const UNITS = new Map([
  ["", 1],
  ["px", 1],
  ["pt", 4 / 3],
  ["pc", 16],
  ["mm", 96 / 25.4],
  ["cm", 96 / 2.54],
  ["in", 96],
]);

/** Reports whether the first element of a text is an svg element. */
export function looksLikeSvg(bytes: Uint8Array): boolean {
  return /^\s*</.test(headOf(bytes).slice(0, 1000)) && rootOf(bytes)?.name === "svg";
}

/**
 * Reads the size of an SVG: its width and height. If one or both are not lengths, computes them from the viewBox (SVG
 * 2, sections 8.2 and 8.12).
 */
export function svgSize(bytes: Uint8Array): PixelSize | null {
  const root = rootOf(bytes);
  if (root === null) return null;
  const [width, height] = [lengthOf(attribute(root, "width")), lengthOf(attribute(root, "height"))];
  if (width !== null && height !== null) return { width, height };
  const box = (attribute(root, "viewbox") ?? "")
    .slice(0, 200)
    .split(/[\s,]+/)
    .map(Number);
  const [, , boxWidth = Number.NaN, boxHeight = Number.NaN] = box;
  if (box.length !== 4 || !Number.isFinite(boxWidth) || !Number.isFinite(boxHeight)) return null;
  if (width !== null) return { width, height: Math.round((width * boxHeight) / boxWidth) };
  if (height !== null) return { width: Math.round((height * boxWidth) / boxHeight), height };
  return { width: Math.round(boxWidth), height: Math.round(boxHeight) };
}

function headOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, HEAD));
}

function rootOf(bytes: Uint8Array): Element | null {
  for (const element of walkElements(parseDocument(headOf(bytes)).root)) return element;
  return null;
}

function lengthOf(value: string | null): number | null {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)([a-z]{0,2})$/i.exec(value ?? "");
  const unit = UNITS.get((match?.[2] ?? "").toLowerCase());
  return match === null || unit === undefined ? null : Math.round(Number(match[1]) * unit);
}
