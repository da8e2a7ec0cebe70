/** One measurement and its limit. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Creates a measurement. */
export function row(what: string, value: number, unit: string, bound: { atLeast?: number; atMost?: number } = {}): Row {
  return { what, value, unit, ...bound };
}

/** Reports whether a measurement is within its limit; true without a limit. */
export function holds({ value, atLeast = -Infinity, atMost = Infinity }: Row): boolean {
  return value >= atLeast && value <= atMost;
}

/** Formats a line for people: value, limit, result. */
export function lineOf(figure: Row): string {
  const { what, value, unit, atLeast, atMost } = figure;
  const bound = atLeast === undefined ? (atMost === undefined ? "" : `<= ${atMost} ${unit}`) : `>= ${atLeast} ${unit}`;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  const verdict = bound === "" ? "" : holds(figure) ? "  met" : "  NOT MET";
  return `${what.padEnd(62)} ${value.toFixed(digits).padStart(9)} ${unit.padEnd(12)} ${bound.padEnd(18)}${verdict}`;
}

/** Returns the middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value below which a share of the others are. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
