import type { Transaction } from "#control-plane/core/database/connect.ts";
import { describeCause, describeLocation, isSameCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { isRepeated, MOST_REPEATED, serviceEntry, type ServiceKind } from "#control-plane/outages/incidents/entry.ts";
import { insertEntries } from "#control-plane/outages/incidents/entries-store.ts";
import type {
  AffectedLocation,
  Cause,
  FailingLocation,
  Incident,
  MonitorTarget,
} from "#control-plane/outages/incidents/incident.ts";
import { addressTo, holdText } from "#control-plane/outages/incidents/outages/lines.ts";
import { changeLocations } from "#control-plane/outages/incidents/outages/locations.ts";
import {
  endOutages,
  lockOutage,
  updateOutage,
  updateSuppressedBy,
} from "#control-plane/outages/incidents/outages/store.ts";

/** The locations that fail now. */
interface ChangedOutage {
  readonly monitor: MonitorTarget;
  readonly failing: readonly FailingLocation[];
  readonly at: Date;
}

/** A line of the timeline of an incident. */
export interface Line {
  readonly incidentId: number;
  readonly kind: ServiceKind;
  readonly at: Date;
  readonly text: string;
}

/** An outage whose notices the outage of another monitor holds back. */
interface SuppressedOutage {
  readonly incidentId: number;
  readonly suppressedBy: number;
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
 * Stores which locations fail now and why, with an entry for each change. Returns false if nothing changed or the incident
 * has ended.
 */
export async function changeOutage(tx: Transaction, incidentId: number, change: ChangedOutage): Promise<boolean> {
  const incident = await lockOutage(tx, incidentId);
  return incident !== null && storeChange(tx, incident, change);
}

/**
 * Stores why locations fail now, with an entry if the cause has changed. `failing`: locations of the outage with their
 * newest faults; the others go on as they were. Returns false if nothing changed or the incident has ended.
 */
export async function changeCause(tx: Transaction, incidentId: number, change: ChangedOutage): Promise<boolean> {
  const incident = await lockOutage(tx, incidentId);
  if (incident === null) return false;
  const newest = new Map(change.failing.map((one) => [one.location, one]));
  const order = change.monitor.settings.locations;
  const failing = incident.locations
    .filter(({ status }) => status === "down")
    .map(({ location, error }) => newest.get(location) ?? { location, fault: error })
    .toSorted((one, other) => order.indexOf(one.location) - order.indexOf(other.location));
  return storeChange(tx, incident, { ...change, failing });
}

/**
 * The cause stays the first one. Until it changes, it is described again when a further location fails with it. What
 * follows it is the newest cause: another fault at a location, or another most frequent one.
 */
async function storeChange(
  tx: Transaction,
  incident: Incident,
  { monitor, failing, at }: ChangedOutage,
): Promise<boolean> {
  const { locations, failed, recovered } = changeLocations(incident.locations, failing);
  const hasOtherFault = changesCause(monitor, incident.locations, failing);
  if (failed.length === 0 && recovered.length === 0 && !hasOtherFault) return false;
  const { causeNow } = incident;
  const described = failed.length > 0 || hasOtherFault ? describeCause(monitor, failing) : causeNow;
  const isOther = hasOtherFault || described?.code !== causeNow?.code;
  const isFirst = !isOther && causeNow === incident.cause;
  const cause = isFirst ? described : incident.cause;
  await updateOutage(tx, { id: incident.id, locations, cause, causeNow: isSame(described, cause) ? cause : described });
  const entries = [
    ...failed.map((one) => serviceEntry("location_failed", at, describeLocation(monitor, one))),
    ...recovered.map((name) => serviceEntry("location_recovered", at, `${toPlainLine(name, MOST_TEXT)} has recovered`)),
    ...(isOther && described !== null ? [serviceEntry("cause_changed", at, described.message)] : []),
  ];
  await insertEntries(tx, addressTo(incident.id, entries), MOST_REPEATED);
  return true;
}

/** Reports whether a location that failed before fails now for another reason. */
function changesCause(
  monitor: MonitorTarget,
  known: readonly AffectedLocation[],
  failing: readonly FailingLocation[],
): boolean {
  const errors = new Map(known.filter(({ status }) => status === "down").map((one) => [one.location, one.error]));
  return failing.some(({ location, fault }) => !isSameCause(monitor, errors.get(location) ?? null, fault));
}

function isSame(one: Cause | null, other: Cause | null): boolean {
  return one?.code === other?.code && one?.message === other?.message;
}

/**
 * Adds lines to the timelines of incidents. Kinds that can repeat without end are dropped once an incident has many
 * entries. Returns how many lines were added.
 */
export async function addLines(tx: Transaction, lines: readonly Line[]): Promise<number> {
  const entries = lines.map(({ incidentId, kind, at, text }) => {
    return { ...serviceEntry(kind, at, toPlainLine(text, MOST_TEXT)), incidentId };
  });
  const repeated = await insertEntries(
    tx,
    entries.filter(({ kind }) => isRepeated(kind)),
    MOST_REPEATED,
  );
  const others = await insertEntries(
    tx,
    entries.filter(({ kind }) => !isRepeated(kind)),
    null,
  );
  return repeated + others;
}

/** Notes that outages of other monitors, which were confirmed later, hold the notices of these outages back. */
export async function suppressOutages(tx: Transaction, outages: readonly SuppressedOutage[]): Promise<void> {
  if (outages.length === 0) return;
  await updateSuppressedBy(tx, outages);
  const entries = outages.map(({ incidentId, suppressedBy, at }) => {
    return { ...serviceEntry("suppressed", at, holdText(suppressedBy)), incidentId };
  });
  await insertEntries(tx, entries, null);
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
