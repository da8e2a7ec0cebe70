import { durationSeconds } from "#control-plane/outages/incidents/duration.ts";
import type { Entry } from "#control-plane/outages/incidents/entry.ts";
import type { Incident } from "#control-plane/outages/incidents/incident.ts";

/** Returns an incident as lists show it. `updates` are newest first. */
export function showIncident(incident: Incident, updates: readonly Entry[], now: Date) {
  const { monitor, acknowledged } = incident;
  return {
    id: incident.id,
    monitor:
      monitor === null ? null : { id: monitor.id, name: monitor.name, url: monitor.url, check_type: monitor.checkType },
    monitor_ids: incident.monitorIds,
    page_ids: incident.pageIds,
    title: incident.title,
    status: incident.status,
    impact: incident.impact,
    manual: monitor === null,
    public: incident.isPublic,
    started_at: incident.startedAt.toISOString(),
    confirmed_at: incident.confirmedAt.toISOString(),
    recovered_at: incident.recoveredAt?.toISOString() ?? null,
    resolved_at: incident.resolvedAt?.toISOString() ?? null,
    duration_seconds: durationSeconds(incident, now),
    cause: incident.cause,
    cause_now: incident.causeNow,
    locations: incident.locations,
    suppressed_by: incident.suppressedBy,
    acknowledged: acknowledged === null ? null : { at: acknowledged.at.toISOString(), by: acknowledged.by },
    updates: updates.map(showUpdate),
  };
}

/** What a single read shows in addition. */
interface Details {
  /** Newest first, as the entries. */
  readonly updates: readonly Entry[];
  readonly entries: readonly Entry[];
  /** As the API shows it; null if there is none. */
  readonly evidence: unknown;
  /** Why there is none; null if there is some, it comes, or nobody knows. */
  readonly evidenceReason: string | null;
}

/** Returns an incident as a single read shows it. */
export function showDetails(incident: Incident, { updates, entries, evidence, evidenceReason }: Details, now: Date) {
  return {
    ...showIncident(incident, updates, now),
    // By time: a recovery is recorded after entries that are younger than its first good check.
    timeline: entries.toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.id - b.id).map(showEntry),
    evidence,
    evidence_reason: evidenceReason,
  };
}

function showUpdate({ id, at, by, status, text, isPublic }: Entry) {
  return { id, at: at.toISOString(), by, status: status ?? "investigating", text, public: isPublic };
}

function showEntry({ at, kind, by, status, text }: Entry) {
  return { at: at.toISOString(), kind, by, text: status === null ? text : `${status}: ${text}` };
}
