import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { matchesMedia, pixels, type Screen } from "#probe-agent/analysis/page/page-resources/media-query.ts";

/** One candidate of a srcset attribute. */
interface ImageCandidate {
  readonly address: string;
  /** Image pixels per CSS pixel. For a width descriptor it is computed with the `sizes` attribute. */
  readonly density: number;
}

const MAX_CANDIDATES = 200;
const MAX_CHARACTERS = 100_000;

/** Parses a srcset attribute (HTML, "parse a srcset attribute"). Leaves out candidates with an invalid descriptor. */
export function parseSrcset(srcset: string, sizes: string | null, screen: Screen): ImageCandidate[] {
  const width = slotWidth(sizes, screen);
  return splitSrcset(srcset.slice(0, MAX_CHARACTERS), MAX_CANDIDATES).flatMap(({ address, descriptors }) => {
    const density = parseDensity(descriptors, width);
    return address === "" || density === null ? [] : [{ address, density }];
  });
}

/** An unparsed candidate: its address without commas at the end, and its trimmed descriptors. */
interface SrcsetEntry {
  readonly address: string;
  readonly descriptors: string;
}

/** Splits a srcset into its first `limit` candidates. Reads each character once or twice. */
export function splitSrcset(text: string, limit: number): SrcsetEntry[] {
  const entries: SrcsetEntry[] = [];
  let at = 0;
  while (entries.length < limit) {
    while (at < text.length && /[\s,]/.test(text.charAt(at))) at += 1;
    if (at >= text.length) break;
    let end = at;
    while (end < text.length && !/\s/.test(text.charAt(end))) end += 1;
    const token = text.slice(at, end);
    const address = withoutTrailing(token, (character) => character === ",");
    at = end;
    let descriptors = "";
    if (address.length === token.length) {
      const stop = endOfDescriptors(text, end);
      descriptors = text.slice(end, stop).trim();
      at = stop + 1;
    }
    entries.push({ address, descriptors });
  }
  return entries;
}

/**
 * Returns the address that a screen of one pixel per CSS pixel loads: the candidate of the lowest density of at least
 * 1, else the one of the highest density. Returns null if there is no candidate.
 */
export function chooseCandidate(candidates: readonly ImageCandidate[]): string | null {
  const sorted = candidates.toSorted((one, other) => one.density - other.density);
  return (sorted.find(({ density }) => density >= 1) ?? sorted.at(-1))?.address ?? null;
}

/** Returns the index of the comma that ends the descriptors. Commas in parentheses belong to a descriptor. */
function endOfDescriptors(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "(") depth += 1;
    else if (character === ")") depth = Math.max(0, depth - 1);
    else if (character === "," && depth === 0) return at;
  }
  return text.length;
}

function parseDensity(descriptors: string, slot: number): number | null {
  if (descriptors === "") return 1;
  let density: number | null = null;
  for (const word of descriptors.slice(0, 200).split(/\s+/)) {
    const [, number, unit] = /^(\d{1,7}(?:\.\d{1,6})?)([wxh])$/.exec(word) ?? [];
    if (number === undefined) return null;
    if (unit === "x") density = Number(number);
    else if (unit === "w") density = slot > 0 ? Number(number) / slot : Infinity;
  }
  return density;
}

/**
 * Returns the width at which an image is shown by its sizes attribute, in CSS pixels. Lengths that depend on the layout
 * count as 100vw.
 */
function slotWidth(sizes: string | null, screen: Screen): number {
  for (const entry of (sizes ?? "").slice(0, 2000).split(",")) {
    const words = entry.trim().split(/\s+/);
    const length = words.pop() ?? "";
    if (length === "" || !matchesMedia(words.join(" "), screen)) continue;
    const [, share] = /^(\d{1,5}(?:\.\d{1,6})?)vw$/.exec(length) ?? [];
    return share === undefined ? (pixels(length) ?? screen.width) : (Number(share) / 100) * screen.width;
  }
  return screen.width;
}
