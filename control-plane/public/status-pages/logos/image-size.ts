/** What the first bytes of a picture say. */
export interface ImageFacts {
  readonly type: "image/png" | "image/jpeg" | "image/webp";
  /** Pixels; null: the picture is cut or damaged. */
  readonly size: { readonly width: number; readonly height: number } | null;
}

const PNG_SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const JPEG_START = Buffer.from("ffd8ff", "hex");
/** Start code of a key frame (RFC 6386, section 9.1). */
const VP8_START = Buffer.from("9d012a", "hex");
/** First byte of a lossless WebP image. */
const VP8L_SIGNATURE = 0x2f;

/** Reads type and size of a PNG, JPEG or WebP picture, whatever its name says; null: it is none of them. Pure. */
export function readImage(bytes: Buffer): ImageFacts | null {
  if (startsWith(bytes, 0, PNG_SIGNATURE)) return { type: "image/png", size: positive(sizeOfPng(bytes)) };
  if (startsWith(bytes, 0, JPEG_START)) return { type: "image/jpeg", size: positive(sizeOfJpeg(bytes)) };
  const isWebp = textAt(bytes, 0, 4) === "RIFF" && textAt(bytes, 8, 4) === "WEBP";
  return isWebp ? { type: "image/webp", size: positive(sizeOfWebp(bytes)) } : null;
}

/** The chunk IHDR comes first, 13 bytes long (PNG specification, sections 5.6 and 11.2.1). */
function sizeOfPng(bytes: Buffer): ImageFacts["size"] {
  const isHeader = bytes.length >= 33 && bytes.readUInt32BE(8) === 13 && textAt(bytes, 12, 4) === "IHDR";
  return isHeader ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : null;
}

/**
 * Looks for the start of a frame among the segments before the scan (ITU-T T.81, annex B). A segment without a content
 * has two bytes, so that every step goes on.
 */
function sizeOfJpeg(bytes: Buffer): ImageFacts["size"] {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      // A byte to fill up.
      at += 1;
      continue;
    }
    // 0xDA begins the scan; 0xC4, 0xC8 and 0xCC are tables.
    if (marker === 0xda || marker < 0xc0) return null;
    if (marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return null;
    at += 2 + length;
  }
  return null;
}

/** The first chunk has the size: VP8X, VP8L or VP8 (RFC 9649, sections 2.5 to 2.7 and 3.4; RFC 6386, section 9.1). */
function sizeOfWebp(bytes: Buffer): ImageFacts["size"] {
  if (bytes.length < 30) return null;
  switch (textAt(bytes, 12, 4)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      if (bytes[20] !== VP8L_SIGNATURE) return null;
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      if (!startsWith(bytes, 23, VP8_START)) return null;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

function positive(size: ImageFacts["size"]): ImageFacts["size"] {
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

function startsWith(bytes: Buffer, at: number, expected: Buffer): boolean {
  return bytes.subarray(at, at + expected.length).equals(expected);
}

function textAt(bytes: Buffer, at: number, length: number): string {
  return bytes.toString("latin1", at, at + length);
}
