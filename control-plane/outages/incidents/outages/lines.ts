import type { NewEntry } from "#control-plane/outages/incidents/entry.ts";
import type { AddressedEntry } from "#control-plane/outages/incidents/entries-store.ts";

/** Says that the outage of another monitor holds notices back. */
export function holdText(monitorId: number): string {
  return `Notices are held back while monitor ${monitorId}, on which this one depends, is down`;
}

/** Addresses entries to an incident. */
export function addressTo(incidentId: number, entries: readonly NewEntry[]): readonly AddressedEntry[] {
  return entries.map((entry) => ({ ...entry, incidentId }));
}
