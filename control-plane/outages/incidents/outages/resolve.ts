import type { Transaction } from "#control-plane/core/database/connect.ts";
import { durationSeconds } from "#control-plane/outages/incidents/duration.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { serviceEntry } from "#control-plane/outages/incidents/entry.ts";
import { insertEntries, type AddressedEntry } from "#control-plane/outages/incidents/entries-store.ts";
import type { Incident } from "#control-plane/outages/incidents/incident.ts";
import { addressTo } from "#control-plane/outages/incidents/outages/lines.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { recoverLocations } from "#control-plane/outages/incidents/outages/locations.ts";
import { markRecovered, updateLocations } from "#control-plane/outages/incidents/outages/store.ts";

/** The recovery of a monitor. */
interface Recovery {
  readonly incidentId: number;
  /** The first good check. */
  readonly recoveredAt: Date;
  readonly confirmedAt: Date;
  /** Names of the locations whose newest check was good. */
  readonly good: readonly string[];
}

/**
 * Ends the incidents of outages with a recovery: `recoveredAt` is the first good check, `confirmedAt` when the recovery
 * was confirmed. An incident never ends before its confirmation. The result has the order of the recoveries, with null
 * for an incident that has ended already.
 */
export async function resolveOutages(
  tx: Transaction,
  recoveries: readonly Recovery[],
): Promise<readonly (Incident | null)[]> {
  if (recoveries.length === 0) return [];
  const ended = await markRecovered(tx, recoveries);
  const all: AddressedEntry[] = [];
  const resolved = recoveries.map((recovery) => {
    const incident = ended.get(recovery.incidentId);
    if (incident === undefined) return null;
    const entries = describeRecovery(incident, recovery);
    all.push(...entries);
    const locations = recoverLocations(incident.locations, recovery.good);
    return { ...incident, locations, entryCount: incident.entryCount + entries.length };
  });
  await updateLocations(
    tx,
    resolved.filter((one) => one !== null),
  );
  await insertEntries(tx, all, null);
  return resolved;
}

function describeRecovery(incident: Incident, { recoveredAt, confirmedAt }: Recovery): readonly AddressedEntry[] {
  const resolvedAt = incident.resolvedAt ?? recoveredAt;
  const duration = writeDuration(durationSeconds(incident, resolvedAt));
  return addressTo(incident.id, [
    serviceEntry("recovered", resolvedAt, kindOf(incident.monitor?.checkType ?? "").words.recovered),
    serviceEntry("resolved", confirmedAt < resolvedAt ? resolvedAt : confirmedAt, `Resolved after ${duration}`),
  ]);
}
