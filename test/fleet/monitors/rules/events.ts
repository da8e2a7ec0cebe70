import type { Finding, MonitorHistory } from "#test/fleet/monitors/records.ts";
import type { Notice } from "#test/fleet/monitors/rules/statuses.ts";

/** One event for each outage and each recovery, stored with it. */
export function eventFindings(history: MonitorHistory, notices: readonly Notice[]): Finding[] {
  const findings: Finding[] = [];
  const living = new Set(history.monitors.filter(({ deletedAt }) => deletedAt === null).map(({ id }) => id));
  const wanted = new Map(notices.map((notice) => [keyOf(notice), notice]));
  const seen = new Set<string>();
  for (const event of history.events) {
    if (!living.has(event.monitorId)) continue;
    const key = keyOf(event);
    if (seen.has(key)) findings.push({ rule: "an event is doubled", about: event });
    else if (!wanted.delete(key)) findings.push({ rule: "an event without a transition", about: event });
    if (event.incidentId === null) findings.push({ rule: "an event without its incident", about: event });
    seen.add(key);
  }
  for (const notice of wanted.values()) findings.push({ rule: "an event is lost", about: notice });
  return findings;
}

function keyOf({
  monitorId,
  tx,
  type,
}: {
  readonly monitorId: number;
  readonly tx: number;
  readonly type: string;
}): string {
  return `${monitorId} ${tx} ${type}`;
}
