import pixelmatch from "pixelmatch";
import type { IgnoredRegion } from "#control-plane/outages/kinds/visual.ts";
import type { Pixels } from "#control-plane/watching/pictures/compare/png.ts";

/** How two pictures differ. */
interface Comparison {
  /** Differing pixels in percent of the pixels of a picture that both fit into. */
  readonly ratio: number;
  /** Shows the differing pixels in red over a pale copy of the second picture. */
  readonly difference: Pixels;
}

/** Difference of colour from which pixels differ, 0 to 1 (the library's default). */
const SENSITIVITY = 0.1;
const BLACK = [0, 0, 0, 255] as const;
const WHITE = [255, 255, 255, 255] as const;

/**
 * Compares two pictures. Pixels of ignored regions are equal; pixels that only one of the pictures has differ. Pixels
 * that differ only by anti-aliasing are equal. Pixels are written into the given arrays, which are large.
 */
export function comparePictures(one: Pixels, other: Pixels, ignored: readonly IgnoredRegion[]): Comparison {
  const width = Math.max(one.width, other.width);
  const height = Math.max(one.height, other.height);
  const common = { width: Math.min(one.width, other.width), height: Math.min(one.height, other.height) };
  const [first, second] = [one, other].map((pixels) => copyTo(pixels, width, height)) as [Pixels, Pixels];
  // Outside of what both have, all pixels differ: black and white.
  for (const region of [
    { x: common.width, y: 0, width: width - common.width, height },
    { x: 0, y: common.height, width: common.width, height: height - common.height },
  ]) {
    fill(first, region, BLACK);
    fill(second, region, WHITE);
  }
  for (const region of ignored) for (const pixels of [first, second]) fill(pixels, region, BLACK);
  const difference: Pixels = { width, height, data: new Uint8Array(width * height * 4) };
  const differing = pixelmatch(first.data, second.data, difference.data, width, height, { threshold: SENSITIVITY });
  return { ratio: (100 * differing) / (width * height), difference };
}

function copyTo({ data, ...size }: Pixels, width: number, height: number): Pixels {
  if (size.width === width && size.height === height) return { width, height, data };
  const copy = new Uint8Array(width * height * 4);
  for (let y = 0; y < size.height; y += 1) {
    copy.set(data.subarray(y * size.width * 4, (y + 1) * size.width * 4), y * width * 4);
  }
  return { width, height, data: copy };
}

/** Fills the part of a region that is inside the picture. */
function fill({ width, height, data }: Pixels, region: IgnoredRegion, colour: readonly number[]): void {
  const right = Math.min(width, region.x + region.width);
  const bottom = Math.min(height, region.y + region.height);
  if (region.x >= right || region.y >= bottom) return;
  const row = Uint8Array.from({ length: (right - region.x) * 4 }, (_, index) => colour[index % 4] ?? 0);
  for (let y = region.y; y < bottom; y += 1) data.set(row, (y * width + region.x) * 4);
}
