import { describe, expect, it } from "vitest";
import { readImageHeader } from "#probe-agent/analysis/page/image-size.ts";
import { avif, bmp, gif, jpeg, png, webp } from "#test/support/images.ts";

const read = (bytes: Uint8Array): string => {
  const header = readImageHeader(bytes);
  if (header === null) return "unknown";
  return `${header.format} ${header.size === null ? "?" : `${header.size.width}x${header.size.height}`}`;
};
const text = (svg: string): Uint8Array => new TextEncoder().encode(svg);

describe("the header of an image", () => {
  const rows: readonly (readonly [name: string, bytes: Uint8Array, expected: string])[] = [
    ["PNG", png(1200, 630), "png 1200x630"],
    ["JPEG", jpeg(1200, 630), "jpeg 1200x630"],
    ["JPEG, progressive", jpeg(640, 480, 0, 0xc2), "jpeg 640x480"],
    ["JPEG after much metadata", jpeg(640, 480, 300_000), "jpeg 640x480"],
    ["GIF", gif(88, 31), "gif 88x31"],
    ["BMP from the top down", bmp(320, 200), "bmp 320x200"],
    ["WebP, lossy with a scale", webp("VP8 ", 550, 368), "webp 550x368"],
    ["WebP, lossless", webp("VP8L", 16_384, 3), "webp 16384x3"],
    ["WebP, extended", webp("VP8X", 40_000, 20_000), "webp 40000x20000"],
    ["AVIF by its primary item", avif(1200, 630), "avif 1200x630"],
    ["AVIF with wide fields", avif(1200, 630, { wide: true }), "avif 1200x630"],
    ["AVIF that is turned", avif(1200, 630, { turned: true }), "avif 630x1200"],
    ["SVG with width and height", text('<?xml version="1.0"?><!-- x --><svg width="1in" height="48px">'), "svg 96x48"],
    ["SVG with a viewBox", text('<svg viewBox="0 0 300.4 157">'), "svg 300x157"],
    ["SVG with a viewBox and a width", text('<svg width="100" height="100%" viewBox="0,0,4,1"/>'), "svg 100x25"],
    ["SVG that says nothing", text("<svg></svg>"), "svg ?"],
  ];
  it.each(rows)("%s", (_name, bytes, expected) => {
    expect(read(bytes)).toBe(expected);
  });

  it("has no size if the claimed size is not plausible", () => {
    expect(read(png(0, 630))).toBe("png ?");
    expect(read(png(2_000_000_000, 2))).toBe("png ?");
    expect(read(text('<svg viewBox="0 0 0 10">'))).toBe("svg ?");
  });

  it("is not found in other files", () => {
    for (const other of [
      "",
      "<!doctype html><html><body><svg width=1 height=1>",
      "not an image",
      "\0\0\0\0",
      "BX",
      "%PDF-1.7",
    ]) {
      expect(read(text(other))).toBe("unknown");
    }
  });
});

describe("hostile images", () => {
  const whole = [
    png(9, 9),
    jpeg(9, 9, 500),
    gif(9, 9),
    bmp(9, 9),
    webp("VP8 ", 9, 9),
    webp("VP8L", 9, 9),
    webp("VP8X", 9, 9),
    avif(9, 9, { wide: true }),
  ];
  it("can be cut off anywhere", () => {
    for (const bytes of whole) {
      for (let length = 0; length < bytes.length; length += 1) {
        const size = readImageHeader(bytes.subarray(0, length))?.size ?? null;
        expect([null, "9x9"]).toContain(size === null ? null : `${size.width}x${size.height}`);
      }
    }
  });
  it("can have any byte changed", () => {
    for (const bytes of whole) {
      for (let at = 0; at < bytes.length; at += 1) {
        for (const value of [0, 1, 0x7f, 0xff]) {
          const changed = Buffer.from(bytes);
          changed[at] = value;
          expect(() => readImageHeader(changed)).not.toThrow();
        }
      }
    }
  });
  it("are read in bounded time, however many boxes or segments they claim", () => {
    const boxes = Buffer.concat([
      Buffer.from("\0\0\0\x0Cftypavif", "latin1"),
      Buffer.alloc(512 * 1024, Buffer.from("\0\0\0\x08meta", "latin1")),
    ]);
    expect(read(boxes)).toBe("avif ?");
    expect(read(Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(512 * 1024, 0xff)]))).toBe("jpeg ?");
    expect(
      read(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xd0]), Buffer.alloc(512 * 1024, Buffer.from([0xff, 0xd0]))])),
    ).toBe("jpeg ?");
    expect(read(text(`<svg ${"a ".repeat(200_000)}`))).toBe("unknown");
    expect(read(text(`<svg viewBox="${"1".repeat(100_000)}">`))).toMatch(/svg \?|unknown/);
  });
});
