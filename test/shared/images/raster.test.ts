import { describe, expect, it } from "vitest";
import { readRasterHeader } from "#shared/images/raster.ts";
import { drawPng, PICTURES } from "#test/support/logos.ts";

const bytesOf = (name: keyof typeof PICTURES) => Buffer.from(PICTURES[name], "base64");
const SIZE = { width: 5, height: 3 };

/** A JPEG of segments: marker and content. */
function jpegOf(segments: readonly (readonly [marker: number, content: string])[]): Buffer {
  const parts = segments.map(([marker, content]) => {
    const bytes = Buffer.from(content, "hex");
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(bytes.length + 2, 2);
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat([Buffer.from("ffd8", "hex"), ...parts]);
}

/** Precision, height 3, width 5, one component. */
const FRAME = "080003000501011100";

describe("a picture", () => {
  it.each([
    ["a PNG", drawPng(5, 3), "png"],
    ["a JPEG", bytesOf("jpeg"), "jpeg"],
    [
      "a progressive JPEG",
      jpegOf([
        [0xe0, "00"],
        [0xc4, FRAME],
        [0xc2, FRAME],
      ]),
      "jpeg",
    ],
    ["a lossy WebP", bytesOf("vp8"), "webp"],
    ["a lossless WebP", bytesOf("vp8l"), "webp"],
    ["an extended WebP", bytesOf("vp8x"), "webp"],
  ] as const)("has its format and its size in its first bytes: %s", (_what, bytes, format) => {
    expect(readRasterHeader(bytes)).toEqual({ format, size: SIZE });
  });

  it("has the largest size that its form can say", () => {
    const png = drawPng(5, 3);
    png.writeUInt32BE(0xffffffff, 16);
    expect(readRasterHeader(png)?.size).toEqual({ width: 0xffffffff, height: 3 });
    const lossless = bytesOf("vp8l");
    lossless.writeUInt32LE(0x0fffffff, 21);
    expect(readRasterHeader(lossless)?.size).toEqual({ width: 16_384, height: 16_384 });
    const extended = bytesOf("vp8x");
    extended.fill(0xff, 24, 30);
    expect(readRasterHeader(extended)?.size).toEqual({ width: 16_777_216, height: 16_777_216 });
  });

  it.each([
    ["nothing", ""],
    ["an SVG", Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"/>`).toString("hex")],
    ["a page", Buffer.from("<!doctype html><script>alert(1)</script>").toString("hex")],
    ["a sound", Buffer.from("RIFF\0\0\0\0WAVEfmt ").toString("hex")],
    ["a PNG of another order", "89504e470a0d1a0a"],
  ])("is none: %s", (_what, hex) => {
    expect(readRasterHeader(Buffer.from(hex, "hex"))).toBeNull();
  });

  it("is damaged if it says no size, wherever it is cut", () => {
    for (const bytes of [drawPng(5, 3), ...(["jpeg", "vp8", "vp8l", "vp8x"] as const).map(bytesOf)]) {
      const whole = readRasterHeader(bytes);
      for (let length = 0; length < bytes.length; length += 1) {
        const cut = readRasterHeader(bytes.subarray(0, length));
        if (cut !== null) expect([null, whole?.size]).toContainEqual(cut.size);
      }
      expect(readRasterHeader(bytes.subarray(0, 20))?.size).toBeNull();
    }
  });

  it.each([
    ["a JPEG without a frame", jpegOf([[0xe0, "00"]])],
    [
      "a JPEG whose scan comes first",
      jpegOf([
        [0xda, "00"],
        [0xc0, FRAME],
      ]),
    ],
    ["a JPEG with a segment of no length", Buffer.from("ffd8ffe00000ffc00009080003000501", "hex")],
    ["a JPEG of fill bytes", Buffer.concat([Buffer.from("ffd8", "hex"), Buffer.alloc(65_536, 0xff)])],
    ["a JPEG without a height", jpegOf([[0xc0, "080000000501011100"]])],
    ["a PNG without a width", Buffer.concat([drawPng(5, 3).subarray(0, 16), Buffer.alloc(40)])],
    ["a WebP of an unknown chunk", Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPXXXX"), Buffer.alloc(40)])],
  ])("is damaged: %s", (_what, bytes) => {
    expect(readRasterHeader(bytes)).toMatchObject({ size: null });
  });
});
