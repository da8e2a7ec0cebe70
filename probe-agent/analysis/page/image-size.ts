import { octetsOf, type Octets, type PixelSize } from "#shared/images/octets.ts";
import { readRasterHeader, type RasterFormat } from "#shared/images/raster.ts";
import type { Element } from "domhandler";
import { parseDocument, walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";

/** A box of an ISO base media file. Its content is in [from, to). */
interface Box {
  readonly type: string;
  readonly from: number;
  readonly to: number;
  /** Whether all of the box was fetched. */
  readonly whole: boolean;
}

const BRANDS = /avif|avis|mif1|heic|heix/;
const MAX_BOXES = 500;

/** Reports whether a file's ftyp box names AVIF or a related format (ISO 14496-12 section 4.3). */
function isAvif(octets: Octets): boolean {
  if (octets.text(4, 4) !== "ftyp") return false;
  const length = Math.min(octets.uint32(0) ?? 0, 256);
  return BRANDS.test(octets.text(8, length - 8));
}

/**
 * Reads the size of the primary item: its spatial extents ("ispe", ISO 23008-12 section 6.5.3), rotated if "irot" says
 * so. If the associations cannot be read, returns the largest extents of the file.
 */
function avifSize(octets: Octets): PixelSize | null {
  const meta = find(octets, { type: "", from: 0, to: octets.length, whole: true }, "meta");
  // In an incomplete header, another image could be mistaken for the primary one.
  if (meta === null || !meta.whole) return null;
  // meta is a full box, which begins with version and flags.
  const inMeta = { ...meta, from: meta.from + 4 };
  const iprp = find(octets, inMeta, "iprp");
  const ipco = iprp === null ? null : find(octets, iprp, "ipco");
  if (iprp === null || ipco === null) return null;
  const properties = boxes(octets, ipco);
  const ipma = find(octets, iprp, "ipma");
  const item = primaryItem(octets, inMeta);
  const own = ipma === null || item === null ? null : associations(octets, ipma, item);
  const mine = own === null ? [] : own.flatMap((index) => properties[index - 1] ?? []);
  const extents = sizes(octets, mine).at(0) ?? largest(sizes(octets, properties));
  const turned = mine.some((box) => box.type === "irot" && ((octets.uint8(box.from) ?? 0) & 1) === 1);
  if (extents === undefined) return null;
  return turned ? { width: extents.height, height: extents.width } : extents;
}

function boxes(octets: Octets, { from, to }: Box): Box[] {
  const found: Box[] = [];
  let at = from;
  while (at + 8 <= to && found.length < MAX_BOXES) {
    const size = octets.uint32(at);
    const type = octets.text(at + 4, 4);
    // Size 0 means to the end. 1 means that a 64-bit size follows; no valid header box needs its upper half.
    const long = size === 1;
    if (long && octets.uint32(at + 8) !== 0) break;
    const length = size === 0 ? to - at : long ? octets.uint32(at + 12) : size;
    const header = long ? 16 : 8;
    if (length === null || length < header) break;
    found.push({ type, from: at + header, to: Math.min(at + length, to), whole: at + length <= to });
    at += length;
  }
  return found;
}

function find(octets: Octets, within: Box, type: string): Box | null {
  return boxes(octets, within).find((box) => box.type === type) ?? null;
}

function primaryItem(octets: Octets, meta: Box): number | null {
  const pitm = find(octets, meta, "pitm");
  if (pitm === null) return null;
  return octets.uint8(pitm.from) === 0 ? octets.uint16(pitm.from + 4) : octets.uint32(pitm.from + 4);
}

/** Returns the indexes, from 1, of an item's properties (ISO 23008-12 section 9.3.1). */
function associations(octets: Octets, ipma: Box, item: number): number[] | null {
  const wideItems = (octets.uint8(ipma.from) ?? 0) >= 1;
  const wideIndexes = ((octets.uint8(ipma.from + 3) ?? 0) & 1) === 1;
  const entries = octets.uint32(ipma.from + 4) ?? 0;
  let at = ipma.from + 8;
  for (let entry = 0; entry < Math.min(entries, 10_000) && at < ipma.to; entry += 1) {
    const id = wideItems ? octets.uint32(at) : octets.uint16(at);
    at += wideItems ? 4 : 2;
    const count = octets.uint8(at) ?? 0;
    at += 1;
    const width = wideIndexes ? 2 : 1;
    if (id === item) return Array.from({ length: count }, (_, n) => indexAt(octets, at + n * width, wideIndexes));
    at += count * width;
  }
  return null;
}

/** Reads a property index. Ignores the top bit, which says that readers must support the property. */
function indexAt(octets: Octets, at: number, wide: boolean): number {
  return wide ? (octets.uint16(at) ?? 0) & 0x7fff : (octets.uint8(at) ?? 0) & 0x7f;
}

function sizes(octets: Octets, properties: readonly Box[]): PixelSize[] {
  return properties.flatMap(({ type, from, to }) => {
    if (type !== "ispe" || to - from < 12) return [];
    const [width, height] = [octets.uint32(from + 4), octets.uint32(from + 8)];
    return width === null || height === null ? [] : [{ width, height }];
  });
}

function largest(all: readonly PixelSize[]): PixelSize | undefined {
  return all.toSorted((one, other) => other.width * other.height - one.width * one.height).at(0);
}

/** Formats recognised by their first bytes, as in browsers (WHATWG MIME Sniffing), whatever the Content-Type says. */
export type ImageFormat = RasterFormat | "avif" | "svg";

/** Format and size from the header of an image. */
interface ImageHeader {
  readonly format: ImageFormat;
  /** Size in pixels, or in user units for SVG. null if the header is cut off, broken or without a size. */
  readonly size: PixelSize | null;
}

/** Media types of each format. The first one is the registered type. */
export const IMAGE_TYPES: Readonly<Record<ImageFormat, readonly string[]>> = {
  png: ["image/png", "image/apng"],
  jpeg: ["image/jpeg", "image/jpg", "image/pjpeg"],
  gif: ["image/gif"],
  webp: ["image/webp"],
  avif: ["image/avif", "image/avif-sequence", "image/heif", "image/heic"],
  svg: ["image/svg+xml"],
  bmp: ["image/bmp", "image/x-ms-bmp"],
};

/** Maximum plausible edge, in pixels: the maximum of JPEG. PNG and BMP headers can claim 2^31. */
const MAX_EDGE = 65_535;

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

/** Reads format and size from the first bytes of an image. Returns null if the format is unknown. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | null {
  const header = readRasterHeader(bytes) ?? readAvifHeader(bytes) ?? readSvgHeader(bytes);
  if (header === null) return null;
  const { format, size } = header;
  return { format, size: size !== null && isPlausible(size) ? size : null };
}

function readAvifHeader(bytes: Uint8Array): ImageHeader | null {
  const octets = octetsOf(bytes);
  return isAvif(octets) ? { format: "avif", size: avifSize(octets) } : null;
}

function readSvgHeader(bytes: Uint8Array): ImageHeader | null {
  return looksLikeSvg(bytes) ? { format: "svg", size: svgSize(bytes) } : null;
}

function isPlausible({ width, height }: PixelSize): boolean {
  return width > 0 && height > 0 && width <= MAX_EDGE && height <= MAX_EDGE;
}

/** Reports whether the first element of a text is an svg element. */
function looksLikeSvg(bytes: Uint8Array): boolean {
  return /^\s*</.test(headOf(bytes).slice(0, 1000)) && rootOf(bytes)?.name === "svg";
}

/**
 * Reads the size of an SVG: its width and height. If one or both are not lengths, computes them from the viewBox (SVG
 * 2, sections 8.2 and 8.12).
 */
function svgSize(bytes: Uint8Array): PixelSize | null {
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
