import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { encodePng, type Pixels } from "#control-plane/watching/pictures/compare/png.ts";

/** A colour as red, green, blue and alpha. */
export type Colour = readonly [number, number, number, number];

export const WHITE: Colour = [255, 255, 255, 255];
export const BLUE: Colour = [0, 0, 200, 255];

/** Returns pixels of one colour, with filled rectangles. */
export function pixelsOf(
  width: number,
  height: number,
  colour: Colour = WHITE,
  rectangles: readonly (readonly [x: number, y: number, width: number, height: number, colour: Colour])[] = [],
): Pixels {
  const data = new Uint8Array(width * height * 4);
  const fill = (left: number, top: number, right: number, bottom: number, value: Colour): void => {
    for (let y = top; y < bottom; y += 1) for (let x = left; x < right; x += 1) data.set(value, (y * width + x) * 4);
  };
  fill(0, 0, width, height, colour);
  for (const [x, y, wide, high, value] of rectangles) fill(x, y, x + wide, y + high, value);
  return { width, height, data };
}

/** Returns a picture as PNG. */
export function pngOf(...pixels: Parameters<typeof pixelsOf>): Buffer {
  return encodePng(pixelsOf(...pixels));
}

/** Returns a chunk of a PNG. */
export function chunkOf(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** Returns a PNG of raw parts: its dimensions, rest of its header, and rows. */
export function rawPng(width: number, height: number, rows: Uint8Array, rest = [8, 6, 0, 0, 0], more: Buffer[] = []) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(rest, 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [
    chunkOf("IHDR", header),
    ...more,
    chunkOf("IDAT", deflateSync(rows)),
    chunkOf("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...parts]);
}

/** Returns the hash of a file. */
export function sha256Of(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
