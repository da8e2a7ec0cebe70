import { isDeepStrictEqual } from "node:util";
import type { Contract } from "#shared/tools/define.ts";
import type { LocationRow } from "#control-plane/checks/answer.ts";

/** Minimum, median and maximum over the locations that have the value, in milliseconds. */
interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/**
 * Returns `data.summary`: the number of answers, whether they agree, and the spread of each duration in the contract.
 */
export function summarise(contract: Contract, rows: readonly LocationRow[]): Record<string, unknown> {
  const data = rows.flatMap((row) => (row.status === "ok" ? [row.data as never] : []));
  const { across } = contract;
  const agreed = across === undefined ? [] : data.map((one) => across.agreeOn(one));
  const measures = across === undefined ? [] : data.map((one) => across.measure(one));
  const names = new Set(measures.flatMap((measure) => Object.keys(measure)));
  return {
    total: rows.length,
    ok: data.length,
    failed: rows.length - data.length,
    consistent: agreed.length === 0 ? null : agreed.every((one) => isDeepStrictEqual(one, agreed[0])),
    ...Object.fromEntries(
      Array.from(names, (name) => [name, spread(measures.map((measure) => measure[name] ?? null))]),
    ),
  };
}

/** Returns the spread of values; null if all are null. The median of an even number is the mean of the middle two. */
export function spread(values: readonly (number | null)[]): Spread | null {
  const known = values.filter((value) => value !== null).toSorted((a, b) => a - b);
  const [min] = known;
  const max = known.at(-1);
  if (min === undefined || max === undefined) return null;
  const middle = (known.length - 1) / 2;
  const low = known[Math.floor(middle)] ?? min;
  const high = known[Math.ceil(middle)] ?? max;
  return { min, median: Math.round(((low + high) / 2) * 1000) / 1000, max };
}
