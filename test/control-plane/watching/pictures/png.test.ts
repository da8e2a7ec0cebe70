import { describe, expect, it } from "vitest";
import { decodePng, encodePng, inspectPng } from "#control-plane/watching/pictures/compare/png.ts";
import { growsAtMost } from "#test/support/memory.ts";
import { BLUE, chunkOf, pixelsOf, pngOf, rawPng, WHITE } from "#test/support/pictures.ts";

const GOOD = pngOf(20, 10, WHITE, [[2, 2, 5, 5, BLUE]]);

describe("a picture of a browser", () => {
  it("is accepted with its size, and its pixels are those that were encoded", () => {
    expect(inspectPng(GOOD)).toMatchObject({ ok: true, format: { width: 20, height: 10, depth: 4 } });
    const decoded = decodePng(GOOD);
    expect(decoded).toMatchObject({ width: 20, height: 10 });
    expect(Buffer.from(decoded?.data ?? [])).toEqual(Buffer.from(pixelsOf(20, 10, WHITE, [[2, 2, 5, 5, BLUE]]).data));
    expect(decodePng(encodePng(pixelsOf(1, 1)))).toMatchObject({ width: 1, height: 1 });
  });
});

describe("a hostile picture", () => {
  const row = (width: number) => Buffer.alloc((width * 4 + 1) * 2);
  const header = (width: number, height: number) => {
    const octets = Buffer.alloc(13);
    octets.writeUInt32BE(width, 0);
    octets.writeUInt32BE(height, 4);
    octets.set([8, 6, 0, 0, 0], 8);
    return chunkOf("IHDR", octets);
  };

  it.each([
    ["is no PNG", Buffer.from("<html>"), "not a PNG"],
    ["is empty", Buffer.alloc(0), "not a PNG"],
    ["is too large", Buffer.alloc(4 * 1024 * 1024 + 1), "too large"],
    ["has the dimensions of a bomb", rawPng(3_840, 2 ** 31 - 1, row(1)), "pixels"],
    ["has more pixels than a comparison may use", rawPng(3_840, 10_000, row(1)), "pixels"],
    ["has no pixels", rawPng(0, 0, row(1)), "pixels"],
    [
      "has a second header with the dimensions of a bomb",
      rawPng(2, 2, row(2), [8, 6, 0, 0, 0], [header(65_535, 65_535)]),
      "header",
    ],
    ["is interlaced, so that its pixels are inflated without limit", rawPng(2, 2, row(2), [8, 6, 0, 0, 1]), "format"],
    ["has a palette", rawPng(2, 2, row(2), [8, 3, 0, 0, 0]), "format"],
    ["has 16 bits", rawPng(2, 2, row(2), [16, 6, 0, 0, 0]), "format"],
    ["has transparent colours", rawPng(2, 2, row(2), [8, 2, 0, 0, 0], [chunkOf("tRNS", Buffer.alloc(6))]), "tRNS"],
    ["is cut off", GOOD.subarray(0, GOOD.length - 20), "cut off"],
    ["is cut off in a length", GOOD.subarray(0, 10), "cut off"],
    ["has data after its end", Buffer.concat([GOOD, Buffer.from("<script>")]), "follows"],
  ])("that %s is rejected before it is decoded", (_what, file, fault) => {
    const inspected = inspectPng(file);
    expect(inspected).toMatchObject({ ok: false, fault: expect.stringContaining(fault) as string });
    expect(decodePng(file)).toBeNull();
  });

  it("with a wrong checksum, too few or too many rows, or unknown filters is rejected by the decoder", () => {
    const wrong = Buffer.from(GOOD);
    wrong.writeUInt32BE(0, 29);
    expect(inspectPng(wrong).ok).toBe(true);
    expect(decodePng(wrong)).toBeNull();
    expect(decodePng(rawPng(2, 200, row(2)))).toBeNull();
    expect(decodePng(rawPng(2, 2, Buffer.alloc(18, 9)))).toBeNull();
    expect(
      decodePng(
        Buffer.concat([
          rawPng(2, 2, row(2)).subarray(0, 33),
          chunkOf("IDAT", Buffer.from("no zlib")),
          chunkOf("IEND", Buffer.alloc(0)),
        ]),
      ),
    ).toBeNull();
  });

  it("that inflates to much more than its pixels takes no memory for the rest", async () => {
    const bomb = rawPng(2, 2, Buffer.alloc(200_000_000));
    expect(bomb.length).toBeLessThan(4 * 1024 * 1024);
    const decode = () => Promise.resolve(decodePng(bomb));
    expect(await growsAtMost(50_000_000, decode, "arrayBuffers")).toBeNull();
  });
});
