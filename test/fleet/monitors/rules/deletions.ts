import type { Action, Finding, MonitorHistory } from "#test/fleet/monitors/records.ts";

/** Nothing is recorded for a monitor after its deletion, and no check while it is paused. */
export function deletionFindings(history: MonitorHistory): Finding[] {
  const findings: Finding[] = [];
  const deletedAt = new Map(history.monitors.map((monitor) => [monitor.id, monitor.deletedAt ?? Infinity]));
  const incidents = new Map(history.incidents.map(({ id, monitorId }) => [id, monitorId]));
  const isAfter = (monitorId: number | undefined, committedAt: number) =>
    committedAt > (deletedAt.get(monitorId ?? 0) ?? Infinity);
  for (const check of history.checks) {
    if (isAfter(check.monitorId, check.committedAt)) {
      findings.push({ rule: "a check of a deleted monitor is recorded", about: check });
    }
  }
  for (const event of history.events) {
    if (isAfter(event.monitorId, event.committedAt)) {
      findings.push({ rule: "an event of a deleted monitor is recorded", about: event });
    }
  }
  for (const entry of history.entries) {
    // A mail that was queued before is noted when it is sent.
    if (entry.kind.startsWith("mail")) continue;
    if (isAfter(incidents.get(entry.incidentId), entry.committedAt)) {
      findings.push({ rule: "an incident of a deleted monitor goes on", about: entry });
    }
  }
  for (const { id, monitorId, resolvedAt } of history.incidents) {
    if (resolvedAt === null && (deletedAt.get(monitorId) ?? Infinity) !== Infinity) {
      findings.push({ rule: "an incident of a deleted monitor goes on", about: { id, monitorId } });
    }
  }
  const pauses = pausesOf(history.actions);
  for (const check of history.checks) {
    for (const { from, to } of pauses.get(check.monitorId) ?? []) {
      if (check.committedAt > from && check.committedAt < to) {
        findings.push({ rule: "a check of a paused monitor is recorded", about: check });
      }
    }
  }
  return findings;
}

/** Returns the times at which monitors were certainly paused. */
function pausesOf(actions: readonly Action[]): ReadonlyMap<number, readonly { from: number; to: number }[]> {
  const pauses = new Map<number, { from: number; to: number }[]>();
  for (const { kind, monitorId, askedAt, answeredAt } of actions) {
    const list = pauses.get(monitorId) ?? [];
    pauses.set(monitorId, list);
    if (kind === "pause" && answeredAt !== null) list.push({ from: answeredAt, to: Infinity });
    const last = list.at(-1);
    if (kind === "resume" && last?.to === Infinity) last.to = askedAt;
  }
  return pauses;
}
