import type { Incident } from "#control-plane/incidents/incident.ts";

/** Returns how long an incident lasted, or has lasted so far, in whole seconds. Never negative: clocks can step back. */
export function durationSeconds(
  { startedAt, resolvedAt }: Pick<Incident, "startedAt" | "resolvedAt">,
  now: Date,
): number {
  const end = resolvedAt ?? now;
  return Math.max(0, Math.floor((end.getTime() - startedAt.getTime()) / 1_000));
}

/** Units of a written duration, in seconds, largest first. */
const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** Writes a duration in its two largest units: "4 min 3 s", "2 d", "0 s". */
export function writeDuration(seconds: number): string {
  const parts: string[] = [];
  let left = seconds;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    // A second part is of the next unit: 1 d 5 min would hide that it is not 1 d 0 h.
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}
