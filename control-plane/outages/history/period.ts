/** Milliseconds. */
export const HOUR_MS = 3_600_000;
/** Milliseconds of a UTC day; the UTC of computers has no leap seconds. */
export const DAY_MS = 24 * HOUR_MS;

/** A half-open interval of Unix milliseconds: `from` belongs to it, `to` does not. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Returns the beginning of the UTC step (a fraction or multiple of a day up to one day) that contains `at`. */
export function startOf(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs;
}

/** Returns the first beginning of a step at or after `at`. */
export function nextStart(at: number, stepMs: number): number {
  return Math.ceil(at / stepMs) * stepMs;
}

/** Lists the beginnings of the steps from `from`, itself a beginning, to before `to`. */
export function startsBetween(from: number, to: number, stepMs: number): readonly number[] {
  const count = Math.max(0, Math.ceil((to - from) / stepMs));
  return Array.from({ length: count }, (_, index) => from + index * stepMs);
}

/** Lists the beginnings of the hours from `from`, itself a beginning, to before `to`. */
export function hoursBetween(from: number, to: number): readonly Date[] {
  return startsBetween(from, to, HOUR_MS).map((hour) => new Date(hour));
}

/** Formats times for a parameter of type timestamptz[]; the client takes an array of Dates for a single time. */
export function isoTimes(times: readonly Date[]): string[] {
  return times.map((time) => time.toISOString());
}

/** Sorts spans, joins those that touch or overlap, and cuts them to `within`. */
export function mergeSpans(spans: readonly Span[], within: Span): readonly Span[] {
  const merged: { from: number; to: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(span.from, within.from);
    const to = Math.min(span.to, within.to);
    if (to <= from) continue;
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}
