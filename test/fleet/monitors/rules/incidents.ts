import type { EntryRow, Finding, IncidentRow, MonitorHistory } from "#test/fleet/monitors/records.ts";
import type { Notice } from "#test/fleet/monitors/rules/statuses.ts";

/** Entries that end an incident: with a recovery, or because the monitor was changed. */
const ENDS: ReadonlySet<string> = new Set(["resolved", "paused", "deleted", "changed_target"]);

/**
 * One incident for each outage: opened by the transaction that made the monitor down, resolved by the one that made it
 * up, or by a pause, a deletion or a new target.
 */
export function incidentFindings(history: MonitorHistory, notices: readonly Notice[]): Finding[] {
  const findings: Finding[] = [];
  const entries = Map.groupBy(history.entries, ({ incidentId }) => incidentId);
  const living = new Set(history.monitors.filter(({ deletedAt }) => deletedAt === null).map(({ id }) => id));
  const begins = new Map(keyed(notices, "monitor.down"));
  const ends = new Map(keyed(notices, "monitor.up"));
  const changed = new Set(history.changes.map(({ monitorId, tx }) => `${monitorId} ${tx}`));
  const open = new Map<number, number>();
  for (const incident of history.incidents.toSorted((one, other) => one.id - other.id)) {
    const list = (entries.get(incident.id) ?? []).toSorted((one, other) => one.id - other.id);
    findings.push(...shapeFindings(incident, list));
    const opened = list.find(({ kind }) => kind === "opened");
    const end = list.find(({ kind }) => ENDS.has(kind));
    const last = open.get(incident.monitorId) ?? -Infinity;
    if (opened !== undefined && opened.committedAt <= last) {
      findings.push({ rule: "a second incident of one outage", about: incident });
    }
    open.set(incident.monitorId, end?.committedAt ?? Infinity);
    if (!living.has(incident.monitorId)) continue;
    if (opened !== undefined && !begins.delete(`${incident.monitorId} ${opened.tx}`)) {
      findings.push({ rule: "an incident without an outage", about: { incident, opened } });
    }
    if (end?.kind === "resolved" && !ends.delete(`${incident.monitorId} ${end.tx}`)) {
      findings.push({ rule: "an incident is resolved without a recovery", about: { incident, end } });
    }
    if (end !== undefined && end.kind !== "resolved" && !changed.has(`${incident.monitorId} ${end.tx}`)) {
      findings.push({ rule: "an incident ends without a new start of its monitor", about: { incident, end } });
    }
  }
  for (const notice of begins.values()) findings.push({ rule: "an outage without an incident", about: notice });
  for (const notice of ends.values()) findings.push({ rule: "a recovery that resolves no incident", about: notice });
  return findings;
}

function* shapeFindings(incident: IncidentRow, all: readonly EntryRow[]): Generator<Finding> {
  // Mails are noted when they are sent, by transactions of their own that lock no incident.
  const entries = all.filter(({ kind }) => !kind.startsWith("mail"));
  const kinds = entries.map(({ kind }) => kind);
  const about = { incident, kinds };
  const [first, second] = kinds;
  if (first !== "opened" || second !== "confirmed" || kinds.lastIndexOf("opened") > 0) {
    yield { rule: "the entries of an incident are out of order", about };
  }
  const endings = kinds.filter((kind) => ENDS.has(kind)).length;
  const isEnded = incident.resolvedAt !== null;
  // What was gathered about an outage that is over within seconds is noted after its end.
  const last = kinds.findLast((kind) => kind !== "evidence") ?? "";
  if (endings !== (isEnded ? 1 : 0) || (isEnded && !ENDS.has(last))) {
    yield { rule: "the entries of an incident are out of order", about };
  }
  if (entries.some(({ committedAt }, index) => committedAt < (entries[index - 1]?.committedAt ?? 0))) {
    yield { rule: "the entries of an incident are out of order", about };
  }
  if (incident.confirmedAt < incident.startedAt || (incident.resolvedAt ?? Infinity) < incident.confirmedAt) {
    yield { rule: "the times of an incident are out of order", about };
  }
}

function keyed(notices: readonly Notice[], type: Notice["type"]): [string, Notice][] {
  return notices.filter((notice) => notice.type === type).map((notice) => [`${notice.monitorId} ${notice.tx}`, notice]);
}
