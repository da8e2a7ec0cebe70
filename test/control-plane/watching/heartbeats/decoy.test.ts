import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DECOY_ROW, decoyOf } from "#control-plane/watching/heartbeats/decoy.ts";

const keyed = (key: string) => ({
  digest: (text: string | Uint8Array, purpose: string) =>
    createHmac("sha256", key).update(purpose).update(text).digest(),
});
const PERIODS = [60, 300, 600, 900, 1_800, 3_600, 21_600, 43_200, 86_400, 604_800];
const tokens = Array.from({ length: 20_000 }, (_, n) => `token-${n}`);

describe("the decoy of a token", () => {
  it("is the same each time", () => {
    expect(decoyOf(keyed("a"), "x")).toEqual(decoyOf(keyed("a"), "x"));
    expect(DECOY_ROW).toMatchObject({ pingCount: 0, openRuns: "[]", verdicts: "[]" });
  });

  it("claims each of the usual periods equally often, and uses every row equally often", () => {
    const decoys = tokens.map((token) => decoyOf(keyed("a"), token));
    const periods = Map.groupBy(decoys, ({ settings }) => settings.period_seconds);
    expect([...periods.keys()].toSorted((a, b) => a - b)).toEqual(PERIODS);
    for (const [period, { length }] of periods) expect(Math.abs(length - 2_000), `${period}`).toBeLessThan(250);
    const rows = Map.groupBy(decoys, ({ id }) => id);
    expect([...rows.keys()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 256 }, (_, id) => id));
    for (const [row, { length }] of rows) expect(Math.abs(length - 78), `${row}`).toBeLessThan(55);
  });

  it("is another one under another key, so that nobody can compute it", () => {
    const same = tokens.filter((token) => {
      const [one, other] = [decoyOf(keyed("a"), token), decoyOf(keyed("b"), token)];
      return one.settings.period_seconds === other.settings.period_seconds;
    });
    expect(Math.abs(same.length - 2_000)).toBeLessThan(250);
  });
});
