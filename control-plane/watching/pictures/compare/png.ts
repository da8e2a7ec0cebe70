import { inflateSync } from "node:zlib";
import { PNG } from "pngjs";
import { PICTURE } from "#shared/monitor-checks/monitor-visual.ts";
import { MAX_ARTIFACT_BYTES } from "#shared/protocol/wire.ts";

/** Pixels of a picture: four octets each (red, green, blue, alpha), row by row from the top. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Size of a picture in pixels, and octets of each of its pixels. */
interface Format {
  readonly width: number;
  readonly height: number;
  readonly depth: 3 | 4;
}

/** The format and the compressed pixels, or why the file is not accepted. */
type Inspected =
  | { readonly ok: true; readonly format: Format; readonly data: readonly Buffer[] }
  | { readonly ok: false; readonly fault: string };

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Octets of a chunk besides its data: length, type and checksum. */
const FRAME = 12;
const HEADER_BYTES = 13;
/** Octets of a pixel by colour type, of those that browsers write: RGB and RGBA. */
const DEPTHS: ReadonlyMap<number, 3 | 4> = new Map([
  [2, 3],
  [6, 4],
]);
/** Chunks that change how pixels are read; browsers write none of them. */
const FOREIGN: ReadonlySet<string> = new Set(["PLTE", "tRNS", "acTL", "fcTL", "fdAT"]);

/**
 * Reads the chunks of a PNG (W3C PNG, section 5) without its pixels. Accepts only what browsers write: 8 bits, RGB or
 * RGBA, not interlaced, one header, within the limits of pictures. So a small file cannot make the decoder take much
 * memory.
 */
export function inspectPng(file: Buffer): Inspected {
  const refuse = (fault: string): Inspected => ({ ok: false, fault });
  if (file.length > MAX_ARTIFACT_BYTES) return refuse("it is too large");
  if (!file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return refuse("it is not a PNG");
  let format: Format | null = null;
  const data: Buffer[] = [];
  for (let at = SIGNATURE.length; at < file.length;) {
    if (file.length - at < FRAME) return refuse("it is cut off");
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    if (length > file.length - at - FRAME) return refuse("it is cut off");
    if ((type === "IHDR") !== (at === SIGNATURE.length)) return refuse("its header is not in its place");
    if (FOREIGN.has(type)) return refuse(`it has a chunk ${type}`);
    if (type === "IHDR") {
      const header = readHeader(file.subarray(at + 8, at + 8 + length));
      if (typeof header === "string") return refuse(header);
      format = header;
    }
    if (type === "IDAT") data.push(file.subarray(at + 8, at + 8 + length));
    at += FRAME + length;
    if (type !== "IEND") continue;
    if (at !== file.length) return refuse("data follows its end");
    return format !== null && data.length > 0 ? { ok: true, format, data } : refuse("it has no pixels");
  }
  return refuse("it is cut off");
}

function readHeader(header: Buffer): Format | string {
  if (header.length !== HEADER_BYTES) return "its header is malformed";
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [bits, colourType = 0, compression, filter, interlace] = header.subarray(8);
  const depth = DEPTHS.get(colourType);
  if (bits !== 8 || depth === undefined || compression !== 0 || filter !== 0 || interlace !== 0) {
    return "its format is not one that browsers write";
  }
  const isFit = width > 0 && height > 0 && width <= PICTURE.maxWidth && height <= PICTURE.maxHeight;
  return isFit && width * height <= PICTURE.maxPixels ? { width, height, depth } : `it has ${width} x ${height} pixels`;
}

/** Decodes a PNG. Returns null if it is malformed: checksums and all pixels are verified. */
export function decodePng(file: Buffer): Pixels | null {
  const inspected = inspectPng(file);
  if (!inspected.ok || !isWhole(inspected)) return null;
  const { width, height } = inspected.format;
  try {
    const { data } = PNG.sync.read(file, { checkCRC: true });
    return data.length === width * height * 4 ? { width, height, data } : null;
  } catch {
    return null;
  }
}

/** Reports whether the compressed pixels are those of the format: the library fills up what is missing. */
function isWhole({ format: { width, height, depth }, data }: Extract<Inspected, { ok: true }>): boolean {
  const size = height * (1 + width * depth);
  try {
    return inflateSync(Buffer.concat(data), { maxOutputLength: size }).length === size;
  } catch {
    return false;
  }
}

/** Encodes pixels as PNG. */
export function encodePng({ width, height, data }: Pixels): Buffer {
  const png = new PNG({ width, height });
  png.data = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return PNG.sync.write(png, { deflateLevel: 6 });
}
