import type { Octets, PixelSize } from "#probe-agent/analysis/page/image-size/octets.ts";

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
export function isAvif(octets: Octets): boolean {
  if (octets.text(4, 4) !== "ftyp") return false;
  const length = Math.min(octets.uint32(0) ?? 0, 256);
  return BRANDS.test(octets.text(8, length - 8));
}

/**
 * Reads the size of the primary item: its spatial extents ("ispe", ISO 23008-12 section 6.5.3), rotated if "irot" says
 * so. If the associations cannot be read, returns the largest extents of the file.
 */
export function avifSize(octets: Octets): PixelSize | null {
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
