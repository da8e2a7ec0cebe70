import type { Transaction } from "#control-plane/database/connect.ts";
import { describeCause, describeLocation } from "#control-plane/incidents/cause/describe.ts";
import { plainLine } from "#control-plane/incidents/cause/plain-line.ts";
import { isRepeated, MOST_REPEATED, serviceEntry, type ServiceKind } from "#control-plane/incidents/entries/entry.ts";
import { insertEntries } from "#control-plane/incidents/entries/store.ts";
import type { FailingLocation, Incident, MonitorTarget } from "#control-plane/incidents/incident.ts";
import { addressTo, holdText } from "#control-plane/incidents/outages/lines.ts";
import { changeLocations } from "#control-plane/incidents/outages/locations.ts";
import { endOutages, lockOutage, updateLocations, updateSuppressedBy } from "#control-plane/incidents/outages/store.ts";

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
  await insertEntries(tx, addressTo(incidentId, entries), MOST_REPEATED);
  return true;
}

/**
 * Adds lines to the timelines of incidents. Kinds that can repeat without end are dropped once an incident has many
 * entries. Returns how many lines were added.
 */
export async function addLines(tx: Transaction, lines: readonly Line[]): Promise<number> {
  const entries = lines.map(({ incidentId, kind, at, text }) => {
    return { ...serviceEntry(kind, at, plainLine(text, MOST_TEXT)), incidentId };
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
