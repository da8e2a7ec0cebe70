import type { Incident } from "#control-plane/outages/incidents/incident.ts";

/** Returns how long an incident lasted, or has lasted so far, in whole seconds. Never negative: clocks can step back. */
export function durationSeconds(
  { startedAt, resolvedAt }: Pick<Incident, "startedAt" | "resolvedAt">,
  now: Date,
): number {
  const end = resolvedAt ?? now;
  return Math.max(0, Math.floor((end.getTime() - startedAt.getTime()) / 1_000));
}
