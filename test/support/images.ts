/** Headers of images of any size, as test servers send them, without pixels. */

function big(value: number, size: 2 | 4): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

function little(value: number, size: 2 | 3 | 4): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, size);
  return bytes;
}

const latin = (text: string): Buffer => Buffer.from(text, "latin1");

/** Builds a PNG up to the end of IHDR. */
export function png(width: number, height: number): Buffer {
  return Buffer.concat([
    latin("\x89PNG\r\n\x1A\n"),
    big(13, 4),
    latin("IHDR"),
    big(width, 4),
    big(height, 4),
    latin("\x08\x06\0\0\0"),
  ]);
}

/** Builds a JPEG with `metadata` octets of APP1 before its frame header. */
export function jpeg(width: number, height: number, metadata = 0, frame = 0xc0): Buffer {
  const segments: Buffer[] = [];
  for (let left = metadata; left > 0; left -= 65_533) {
    const size = Math.min(left, 65_533);
    segments.push(latin("\xFF\xE1"), big(size + 2, 2), Buffer.alloc(size, 0xff));
  }
  return Buffer.concat([
    latin("\xFF\xD8"),
    ...segments,
    latin("\xFF\xFF\xFF\xC4"),
    big(4, 2),
    latin("ab"),
    Buffer.from([0xff, frame]),
    big(11, 2),
    latin("\x08"),
    big(height, 2),
    big(width, 2),
    latin("\x01\x01\x11\0"),
  ]);
}

/** Builds the logical screen of a GIF. */
export function gif(width: number, height: number): Buffer {
  return Buffer.concat([latin("GIF89a"), little(width, 2), little(height, 2), latin("\0\0\0")]);
}

/** Builds a BMP with BITMAPINFOHEADER, rows from the top down. */
export function bmp(width: number, height: number): Buffer {
  const down = Buffer.alloc(4);
  down.writeInt32LE(-height);
  return Buffer.concat([latin("BM"), Buffer.alloc(12), little(40, 4), little(width, 4), down]);
}

/** Builds a WebP of one of the three kinds. */
export function webp(kind: "VP8 " | "VP8L" | "VP8X", width: number, height: number): Buffer {
  const chunk = {
    "VP8 ": Buffer.concat([latin("\0\0\0\x9D\x01*"), little(width | 0x4000, 2), little(height, 2)]),
    VP8L: Buffer.concat([latin("/"), little(((width - 1) | ((height - 1) << 14)) >>> 0, 4)]),
    VP8X: Buffer.concat([Buffer.alloc(4), little(width - 1, 3), little(height - 1, 3)]),
  }[kind];
  return Buffer.concat([
    latin("RIFF"),
    little(12 + chunk.length, 4),
    latin("WEBP"),
    latin(kind),
    little(chunk.length, 4),
    chunk,
  ]);
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([big(body.length + 8, 4), latin(type), body]);
}

const full = (version = 0, flags = 0): Buffer => big(version * 0x1000000 + flags, 4);

/**
 * Builds an AVIF whose primary item (2) has the given size. A thumbnail (1) comes first, and there is a larger tile
 * without an item.
 */
export function avif(
  width: number,
  height: number,
  options: { readonly turned?: boolean; readonly wide?: boolean } = {},
): Buffer {
  const ispe = (w: number, h: number): Buffer => box("ispe", full(), big(w, 4), big(h, 4));
  const properties = [ispe(64, 64), ispe(width, height), ispe(5000, 5000), box("irot", Buffer.from([1]))];
  const wide = options.wide === true;
  const indexes = options.turned === true ? [2, 4] : [2];
  const own = indexes.map((index) => (wide ? big(index | 0x8000, 2) : Buffer.from([index | 0x80])));
  const thumbnail = wide ? big(1, 2) : Buffer.from([1]);
  const id = (value: number): Buffer => big(value, wide ? 4 : 2);
  const ipma = box(
    "ipma",
    full(wide ? 1 : 0, wide ? 1 : 0),
    big(2, 4),
    Buffer.concat([id(1), Buffer.from([1]), thumbnail]),
    Buffer.concat([id(2), Buffer.from([own.length]), ...own]),
  );
  return Buffer.concat([
    box("ftyp", latin("avif"), big(0, 4), latin("mif1miaf")),
    box(
      "meta",
      full(),
      box("hdlr", Buffer.alloc(12)),
      box("pitm", full(), big(2, 2)),
      box("iprp", box("ipco", ...properties), ipma),
    ),
  ]);
}
