/** One measured figure and the bound it is held to. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** A figure. */
export function row(what: string, value: number, unit: string, bound: { atLeast?: number; atMost?: number } = {}): Row {
  return { what, value, unit, ...bound };
}

/** Whether a figure is within its bound; true without one. */
export function holds({ value, atLeast = -Infinity, atMost = Infinity }: Row): boolean {
  return value >= atLeast && value <= atMost;
}

/** A line for people: figure, bound, verdict. */
export function lineOf(figure: Row): string {
  const { what, value, unit, atLeast, atMost } = figure;
  const bound = atLeast === undefined ? (atMost === undefined ? "" : `<= ${atMost} ${unit}`) : `>= ${atLeast} ${unit}`;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  const verdict = bound === "" ? "" : holds(figure) ? "  met" : "  NOT MET";
  return `${what.padEnd(62)} ${value.toFixed(digits).padStart(9)} ${unit.padEnd(12)} ${bound.padEnd(18)}${verdict}`;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which a share of the others lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
