import { describe, expect, it } from "vitest";
import { comparePictures } from "#control-plane/watching/pictures/compare/compare.ts";
import { BLUE, pixelsOf, WHITE } from "#test/support/pictures.ts";

const changed = (width: number, height: number) => pixelsOf(1_000, 500, WHITE, [[100, 100, width, height, BLUE]]);

describe("the difference of two pictures", () => {
  it("of equal pixels is 0", () => {
    expect(comparePictures(changed(50, 50), changed(50, 50), []).ratio).toBe(0);
  });

  it("is the share of the differing pixels in percent: a block of 0.2 % is found", () => {
    const { ratio, difference } = comparePictures(pixelsOf(1_000, 500), changed(40, 25), []);
    expect(ratio).toBe(0.2);
    expect(difference).toMatchObject({ width: 1_000, height: 500 });
    expect([...difference.data.subarray((110 * 1_000 + 110) * 4, (110 * 1_000 + 110) * 4 + 3)]).toEqual([255, 0, 0]);
  });

  it("leaves ignored regions out, also those that lie partly outside", () => {
    const ignore = [{ x: 100, y: 100, width: 20, height: 25 }];
    expect(comparePictures(pixelsOf(1_000, 500), changed(40, 25), ignore).ratio).toBe(0.1);
    const all = [{ x: 0, y: 0, width: 5_000, height: 5_000 }];
    expect(comparePictures(pixelsOf(1_000, 500), changed(40, 25), all).ratio).toBe(0);
    const outside = [{ x: 2_000, y: 2_000, width: 5, height: 5 }];
    expect(comparePictures(pixelsOf(1_000, 500), changed(40, 25), outside).ratio).toBe(0.2);
  });

  it("counts pixels that only one of the pictures has, over the larger of both, whatever their colour", () => {
    expect(comparePictures(pixelsOf(100, 100), pixelsOf(100, 200), []).ratio).toBe(50);
    expect(comparePictures(pixelsOf(100, 200), pixelsOf(100, 100), []).ratio).toBe(50);
    expect(comparePictures(pixelsOf(200, 100), pixelsOf(100, 200), []).ratio).toBe(75);
    expect(comparePictures(pixelsOf(100, 100), pixelsOf(100, 101), []).ratio).toBeCloseTo(100 / 101);
    const ignore = [{ x: 0, y: 100, width: 100, height: 100 }];
    expect(comparePictures(pixelsOf(100, 100), pixelsOf(100, 200), ignore).ratio).toBe(0);
  });
});
