import { octetsOf, type Octets, type PixelSize } from "#probe-agent/analysis/page/image-octets.ts";
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
export type ImageFormat = "png" | "jpeg" | "gif" | "webp" | "avif" | "svg" | "bmp";

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
  const octets = octetsOf(bytes);
  const format = detectFormat(octets, bytes);
  if (format === null) return null;
  const size = READERS[format](octets, bytes);
  return { format, size: size !== null && isPlausible(size) ? size : null };
}

const READERS: Readonly<Record<ImageFormat, (octets: Octets, bytes: Uint8Array) => PixelSize | null>> = {
  png: pngSize,
  jpeg: jpegSize,
  gif: gifSize,
  webp: webpSize,
  avif: avifSize,
  svg: (_octets, bytes) => svgSize(bytes),
  bmp: bmpSize,
};

function detectFormat(octets: Octets, bytes: Uint8Array): ImageFormat | null {
  if (octets.text(0, 8) === "\u0089PNG\r\n\u001A\n") return "png";
  if (octets.text(0, 3) === "\u00FF\u00D8\u00FF") return "jpeg";
  if (/^GIF8[79]a/.test(octets.text(0, 6))) return "gif";
  if (octets.text(0, 4) === "RIFF" && octets.text(8, 4) === "WEBP") return "webp";
  if (isAvif(octets)) return "avif";
  if (octets.text(0, 2) === "BM") return "bmp";
  return looksLikeSvg(bytes) ? "svg" : null;
}

function isPlausible({ width, height }: PixelSize): boolean {
  return width > 0 && height > 0 && width <= MAX_EDGE && height <= MAX_EDGE;
}

function sizeOf(width: number | null, height: number | null): PixelSize | null {
  return width === null || height === null ? null : { width, height };
}

/** Reads the size of a PNG. IHDR is the first chunk (PNG section 11.2.1). */
function pngSize(octets: Octets): PixelSize | null {
  return octets.text(12, 4) === "IHDR" ? sizeOf(octets.uint32(16), octets.uint32(20)) : null;
}

/** Reads the size of a GIF: that of its logical screen (GIF89a section 18). */
function gifSize(octets: Octets): PixelSize | null {
  return sizeOf(octets.littleUint16(6), octets.littleUint16(8));
}

/**
 * Reads the size of a BMP. BITMAPCOREHEADER has 12 octets, later headers have more. A negative height means top-down
 * rows.
 */
function bmpSize(octets: Octets): PixelSize | null {
  if (octets.littleUint32(14) === 12) return sizeOf(octets.littleUint16(18), octets.littleUint16(20));
  const height = octets.littleUint32(22);
  return sizeOf(octets.littleUint32(18), height === null ? null : Math.abs(height | 0));
}

/**
 * Reads the size of a JPEG (T.81 annex B) from its frame header: SOF0 to SOF15, which do not include DHT, JPG and DAC.
 */
function jpegSize(octets: Octets): PixelSize | null {
  let at = 2;
  for (;;) {
    if (octets.uint8(at) !== 0xff) return null;
    let marker = octets.uint8(at + 1);
    // Any number of fill octets can precede a marker.
    while (marker === 0xff) {
      at += 1;
      marker = octets.uint8(at + 1);
    }
    if (marker === null || marker === 0xd9 || marker === 0xda) return null;
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return sizeOf(octets.uint16(at + 7), octets.uint16(at + 5));
    const length = octets.uint16(at + 2);
    if (length === null || length < 2) return null;
    at += 2 + length;
  }
}

/** Reads the size of a WebP file (RFC 9649 section 2.7): lossy, lossless or extended. */
function webpSize(octets: Octets): PixelSize | null {
  const chunk = octets.text(12, 4);
  if (chunk === "VP8X") return sizeOf(plusOne(octets.littleUint24(24)), plusOne(octets.littleUint24(27)));
  if (chunk === "VP8L") {
    const bits = octets.littleUint32(21);
    if (octets.uint8(20) !== 0x2f || bits === null) return null;
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (chunk !== "VP8 " || octets.text(23, 3) !== "\u009D\u0001*") return null;
  const [width, height] = [octets.littleUint16(26), octets.littleUint16(28)];
  return width === null || height === null ? null : { width: width & 0x3fff, height: height & 0x3fff };
}

function plusOne(value: number | null): number | null {
  return value === null ? null : value + 1;
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
