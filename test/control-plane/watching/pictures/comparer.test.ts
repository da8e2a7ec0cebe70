import { afterEach, expect, it } from "vitest";
import { createComparer, type Comparer } from "#control-plane/watching/pictures/compare/comparer.ts";
import { BLUE, pngOf, rawPng, WHITE } from "#test/support/pictures.ts";

const open: Comparer[] = [];
afterEach(() => {
  for (const comparer of open.splice(0)) comparer.close();
});

function comparerOf(options?: Parameters<typeof createComparer>[0]): Comparer {
  const comparer = createComparer(options);
  open.push(comparer);
  return comparer;
}

const ONE = pngOf(200, 100);
const OTHER = pngOf(200, 100, WHITE, [[0, 0, 100, 100, BLUE]]);
const order =
  (taken: Uint8Array, accepted: Uint8Array | null, showAbove: number | null = 0.1) =>
  () =>
    Promise.resolve({ taken, accepted, ignored: [], showAbove });

it("pictures are compared in a thread, one after the other, and the difference is a picture", async () => {
  const comparer = comparerOf();
  const results = await Promise.all([
    comparer.run(order(OTHER, ONE)),
    comparer.run(order(ONE, ONE)),
    comparer.run(order(ONE, null)),
    comparer.run(order(OTHER, ONE, null)),
  ]);
  expect(results).toMatchObject([
    { kind: "compared", ratio: 50, difference: { width: 200, height: 100 } },
    { kind: "compared", ratio: 0, difference: null },
    { kind: "compared", ratio: 0, difference: null },
    { kind: "compared", ratio: 50, difference: null },
  ]);
});

it("a picture that cannot be decoded is invalid, and the next one is compared", async () => {
  const comparer = comparerOf();
  expect(await comparer.run(order(rawPng(50, 50, Buffer.alloc(10)), ONE))).toEqual({ kind: "invalid" });
  expect(await comparer.run(order(OTHER, ONE))).toMatchObject({ kind: "compared", ratio: 50 });
});

it("a thread that fails or takes too long ends, and the next picture gets a new one", async () => {
  const comparer = comparerOf();
  expect(await comparer.run(order(ONE, Buffer.from("no picture")))).toEqual({ kind: "broken" });
  expect(await comparer.run(order(OTHER, ONE))).toMatchObject({ kind: "compared", ratio: 50 });
  const hasty = comparerOf({ mostMs: 0 });
  expect(await hasty.run(order(pngOf(3_000, 3_000), pngOf(3_000, 3_000)))).toEqual({ kind: "too_slow" });
});

it("waiting pictures are limited, and a failing preparation ends only its own", async () => {
  const comparer = comparerOf({ mostWaiting: 2 });
  const failing = comparer.run(() => Promise.reject(new Error("the database is away")));
  const second = comparer.run(order(OTHER, ONE));
  expect(await comparer.run(order(ONE, ONE))).toEqual({ kind: "busy" });
  await expect(failing).rejects.toThrow("the database is away");
  expect(await second).toMatchObject({ kind: "compared", ratio: 50 });
});
