import type { Transaction } from "#control-plane/database/connect.ts";
import { describeCause, describeLocation } from "#control-plane/incidents/cause/describe.ts";
import { plainLine } from "#control-plane/incidents/cause/plain-line.ts";
import { durationSeconds, writeDuration } from "#control-plane/incidents/duration.ts";
import { isRepeated, MOST_REPEATED, serviceEntry, type ServiceKind } from "#control-plane/incidents/entries/entry.ts";
import { insertEntries } from "#control-plane/incidents/entries/store.ts";
import type { FailingLocation, Incident, IncidentMonitor, MonitorTarget } from "#control-plane/incidents/incident.ts";
import { changeLocations } from "#control-plane/incidents/outages/locations.ts";
import {
  endOutages,
  insertOutage,
  lockOutage,
  markRecovered,
  updateLocations,
  updateSuppressedBy,
} from "#control-plane/incidents/outages/store.ts";

/** A confirmed outage. */
interface ConfirmedOutage {
  readonly monitor: IncidentMonitor;
  /** The first failing check. */
  readonly startedAt: Date;
  readonly confirmedAt: Date;
  readonly failing: readonly FailingLocation[];
  /** The monitor whose outage holds the notices of this one back; null: none. */
  readonly suppressedBy: number | null;
}

/** The locations that fail now. */
interface ChangedOutage {
  readonly monitor: MonitorTarget;
  readonly failing: readonly FailingLocation[];
  readonly at: Date;
}

/** Why an outage ends without a recovery. */
type EndKind = "paused" | "deleted" | "changed_target";

/** Maximum length of the text of an entry. */
const MOST_TEXT = 500;

const END_TEXTS: Readonly<Record<EndKind, string>> = {
  paused: "The monitor was paused; the incident ends without a recovery",
  deleted: "The monitor was deleted; the incident ends without a recovery",
  changed_target: "The monitor has a new target; the incident ends without a recovery",
};

/**
 * Opens the incident of a confirmed outage. `isNew` is false if the monitor already has an open one, which is returned
 * unchanged; so of two concurrent transactions one opens it, and the other waits and finds it.
 */
export async function openOutage(
  tx: Transaction,
  { monitor, startedAt, confirmedAt, failing, suppressedBy }: ConfirmedOutage,
): Promise<{ readonly incident: Incident; readonly isNew: boolean }> {
  const cause = describeCause(monitor, failing);
  const opened = await insertOutage(tx, {
    accountId: monitor.accountId,
    monitor: { id: monitor.id, name: monitor.name, url: monitor.url, checkType: monitor.checkType },
    title: `${monitor.name} is down`,
    startedAt,
    // The clock can step back between the two.
    confirmedAt: confirmedAt < startedAt ? startedAt : confirmedAt,
    cause,
    locations: changeLocations([], failing).locations,
    suppressedBy,
  });
  if (!opened.isNew) return opened;
  const { incident } = opened;
  const entries = [
    serviceEntry("opened", incident.startedAt, "First failing check"),
    serviceEntry("confirmed", incident.confirmedAt, cause.message),
    ...(suppressedBy === null ? [] : [serviceEntry("suppressed", incident.confirmedAt, holdText(suppressedBy))]),
  ];
  await insertEntries(tx, incident.id, entries, null);
  return { incident: { ...incident, entryCount: entries.length }, isNew: true };
}

/**
 * Stores which locations fail now, with an entry for each change. The cause is described again when a further location
 * fails. Returns false if nothing changed or the incident has ended.
 */
export async function changeOutage(
  tx: Transaction,
  incidentId: number,
  { monitor, failing, at }: ChangedOutage,
): Promise<boolean> {
  const incident = await lockOutage(tx, incidentId);
  if (incident === null) return false;
  const { locations, failed, recovered } = changeLocations(incident.locations, failing);
  if (failed.length === 0 && recovered.length === 0) return false;
  const cause = failed.length === 0 ? incident.cause : describeCause(monitor, failing);
  await updateLocations(tx, incidentId, locations, cause);
  const entries = [
    ...failed.map((one) => serviceEntry("location_failed", at, describeLocation(monitor, one))),
    ...recovered.map((name) => serviceEntry("location_recovered", at, `${plainLine(name, MOST_TEXT)} has recovered`)),
  ];
  await insertEntries(tx, incidentId, entries, MOST_REPEATED);
  return true;
}

/**
 * Adds a line to the timeline. Kinds that can repeat without end are dropped once the incident has many entries. Returns
 * false if the line was dropped or there is no such incident.
 */
export function addEntry(
  tx: Transaction,
  incidentId: number,
  { kind, at, text }: { readonly kind: ServiceKind; readonly at: Date; readonly text: string },
): Promise<boolean> {
  const entry = serviceEntry(kind, at, plainLine(text, MOST_TEXT));
  return insertEntries(tx, incidentId, [entry], isRepeated(kind) ? MOST_REPEATED : null);
}

/** Notes that the outage of another monitor, which was confirmed later, holds the notices of this one back. */
export async function suppressOutage(
  tx: Transaction,
  incidentId: number,
  suppressedBy: number,
  at: Date,
): Promise<void> {
  await updateSuppressedBy(tx, incidentId, suppressedBy);
  await insertEntries(tx, incidentId, [serviceEntry("suppressed", at, holdText(suppressedBy))], null);
}

/**
 * Ends the incident of an outage with a recovery: `recoveredAt` is the first good check, `confirmedAt` when the recovery
 * was confirmed. The incident never ends before its confirmation. Returns null if it has ended already.
 */
export async function resolveOutage(
  tx: Transaction,
  incidentId: number,
  { recoveredAt, confirmedAt }: { readonly recoveredAt: Date; readonly confirmedAt: Date },
): Promise<Incident | null> {
  const incident = await markRecovered(tx, incidentId, recoveredAt);
  if (incident === null) return null;
  const resolvedAt = incident.resolvedAt ?? recoveredAt;
  const duration = writeDuration(durationSeconds(incident, resolvedAt));
  const entries = [
    serviceEntry("recovered", resolvedAt, "First good check"),
    serviceEntry("resolved", confirmedAt < resolvedAt ? resolvedAt : confirmedAt, `Resolved after ${duration}`),
  ];
  await insertEntries(tx, incidentId, entries, null);
  return { ...incident, entryCount: incident.entryCount + entries.length };
}

/**
 * Ends the open incidents of monitors that are paused, deleted, or have a new target. Returns the ended incidents in any
 * order; monitors without an open one are not among them.
 */
export function endOutagesOf(
  tx: Transaction,
  monitorIds: readonly number[],
  at: Date,
  kind: EndKind,
): Promise<readonly Incident[]> {
  return endOutages(tx, monitorIds, at, { kind, text: END_TEXTS[kind] });
}

function holdText(monitorId: number): string {
  return `Notices are held back while monitor ${monitorId}, on which this one depends, is down`;
}
