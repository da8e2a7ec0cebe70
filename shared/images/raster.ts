import { octetsOf, type Octets, type PixelSize } from "#shared/images/octets.ts";

/** Formats of pixels that are recognised by their first octets, as in browsers (WHATWG MIME Sniffing). */
export type RasterFormat = "png" | "jpeg" | "gif" | "webp" | "bmp";

/** Format and size from the header of an image. */
interface RasterHeader {
  readonly format: RasterFormat;
  /** Size in pixels, as large as the format can say; null: the header is cut off, broken or without a size. */
  readonly size: PixelSize | null;
}

/** Reads format and size from the first octets of an image, whatever its name says; null: the format is none of these. */
export function readRasterHeader(bytes: Uint8Array): RasterHeader | null {
  const octets = octetsOf(bytes);
  const format = detectFormat(octets);
  if (format === null) return null;
  const size = READERS[format](octets);
  return { format, size: size !== null && size.width > 0 && size.height > 0 ? size : null };
}

const READERS: Readonly<Record<RasterFormat, (octets: Octets) => PixelSize | null>> = {
  png: pngSize,
  jpeg: jpegSize,
  gif: gifSize,
  webp: webpSize,
  bmp: bmpSize,
};

function detectFormat(octets: Octets): RasterFormat | null {
  if (octets.text(0, 8) === "\u0089PNG\r\n\u001A\n") return "png";
  if (octets.text(0, 3) === "\u00FF\u00D8\u00FF") return "jpeg";
  if (/^GIF8[79]a/.test(octets.text(0, 6))) return "gif";
  if (octets.text(0, 4) === "RIFF" && octets.text(8, 4) === "WEBP") return "webp";
  return octets.text(0, 2) === "BM" ? "bmp" : null;
}

function sizeOf(width: number | null, height: number | null): PixelSize | null {
  return width === null || height === null ? null : { width, height };
}

/** Reads the size of a PNG. IHDR is the first chunk, with 13 octets (PNG section 11.2.1). */
function pngSize(octets: Octets): PixelSize | null {
  const isHeader = octets.uint32(8) === 13 && octets.text(12, 4) === "IHDR";
  return isHeader ? sizeOf(octets.uint32(16), octets.uint32(20)) : null;
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
    if (marker === 0x01 || (marker !== null && marker >= 0xd0 && marker <= 0xd7)) {
      at += 2;
      continue;
    }
    // Markers below SOF0 are reserved. EOI ends the image, and SOS begins its scan.
    if (marker === null || marker < 0xc0 || marker === 0xd9 || marker === 0xda) return null;
    const isFrame = marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
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
  // The start code of a key frame, then its size (RFC 6386 section 9.1).
  if (chunk !== "VP8 " || octets.text(23, 3) !== "\u009D\u0001*") return null;
  const [width, height] = [octets.littleUint16(26), octets.littleUint16(28)];
  return width === null || height === null ? null : { width: width & 0x3fff, height: height & 0x3fff };
}

function plusOne(value: number | null): number | null {
  return value === null ? null : value + 1;
}
