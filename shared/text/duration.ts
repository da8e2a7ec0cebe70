const SHORT = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/**
 * Writes a duration with its two largest units, rounded to whole seconds: "4 min 3 s", "2 d". The second part is of the
 * next unit or missing: one hour and 5 s are "1 h". A negative duration is "0 s".
 */
export function writeDuration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const largest = SHORT.findIndex(([, size]) => rest >= size);
  if (largest === -1) return "0 s";
  const parts: string[] = [];
  for (const [unit, size] of SHORT.slice(largest, largest + 2)) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.join(" ");
}

const LONG = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** Describes a duration in milliseconds by its largest unit, rounded down: "3 minutes"; "less than a second". */
export function describeDuration(ms: number): string {
  const [unit, size] = LONG.find(([, length]) => ms >= length) ?? [];
  if (unit === undefined || size === undefined) return "less than a second";
  const count = Math.floor(ms / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
