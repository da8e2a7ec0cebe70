import type { Transaction } from "#control-plane/core/database/connect.ts";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { serviceEntry } from "#control-plane/outages/incidents/entry.ts";
import { insertEntries, type AddressedEntry } from "#control-plane/outages/incidents/entries-store.ts";
import type { FailingLocation, Incident, IncidentMonitor } from "#control-plane/outages/incidents/incident.ts";
import { addressTo, holdText } from "#control-plane/outages/incidents/outages/lines.ts";
import { changeLocations } from "#control-plane/outages/incidents/outages/locations.ts";
import { insertOutages, type NewOutage } from "#control-plane/outages/incidents/outages/store.ts";
import { outageTitle } from "#control-plane/outages/incidents/texts.ts";

/** A confirmed outage. */
interface ConfirmedOutage {
  readonly monitor: IncidentMonitor;
  /** The first failing check, or the time by which a ping was missed. */
  readonly startedAt: Date;
  readonly confirmedAt: Date;
  readonly failing: readonly FailingLocation[];
  /** The monitor whose outage holds the notices of this one back; null: none. */
  readonly suppressedBy: number | null;
}

/**
 * Opens the incidents of confirmed outages of different monitors, in the order of the monitors' ids. `isNew` is false if
 * a monitor already has an open one, which is returned unchanged; so of two concurrent transactions one opens it, and the
 * other waits and finds it. The result has the order of the outages.
 */
export async function openOutages(
  tx: Transaction,
  outages: readonly ConfirmedOutage[],
): Promise<readonly { readonly incident: Incident; readonly isNew: boolean }[]> {
  if (outages.length === 0) return [];
  const made = outages.map(describeOutage);
  const inserted = await insertOutages(tx, made);
  const all: AddressedEntry[] = [];
  const opened = made.map((outage) => {
    const found = inserted.get(outage.monitor.id);
    if (found === undefined) throw new Error("an outage was neither inserted nor found");
    if (!found.isNew) return found;
    const entries = describeOpening(outage, found.incident);
    all.push(...entries);
    return { incident: { ...found.incident, entryCount: entries.length }, isNew: true };
  });
  await insertEntries(tx, all, null);
  return opened;
}

function describeOutage({ monitor, startedAt, confirmedAt, failing, suppressedBy }: ConfirmedOutage): NewOutage {
  const { id, accountId, name, checkType } = monitor;
  return {
    accountId,
    monitor: { id, name, url: kindOf(checkType).target === null ? null : monitor.url, checkType },
    title: outageTitle(name),
    startedAt,
    // The clock can step back between the two.
    confirmedAt: confirmedAt < startedAt ? startedAt : confirmedAt,
    cause: describeCause(monitor, failing),
    locations: changeLocations([], failing).locations,
    suppressedBy,
  };
}

function describeOpening({ monitor, cause, suppressedBy }: NewOutage, incident: Incident): readonly AddressedEntry[] {
  const entries = [
    serviceEntry("opened", incident.startedAt, kindOf(monitor.checkType).words.opened),
    serviceEntry("confirmed", incident.confirmedAt, cause.message),
    ...(suppressedBy === null ? [] : [serviceEntry("suppressed", incident.confirmedAt, holdText(suppressedBy))]),
  ];
  return addressTo(incident.id, entries);
}
