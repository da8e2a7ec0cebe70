const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** Describes a duration in milliseconds by its largest unit, rounded down: "3 minutes"; "less than a second". */
export function describeDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? [];
  if (unit === undefined || size === undefined) return "less than a second";
  const count = Math.floor(ms / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
