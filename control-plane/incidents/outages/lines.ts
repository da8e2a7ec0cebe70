import { isHeartbeat } from "#control-plane/incidents/cause/heartbeat.ts";
import type { NewEntry } from "#control-plane/incidents/entries/entry.ts";
import type { AddressedEntry } from "#control-plane/incidents/entries/store.ts";

/** The lines about the first observations of an outage and of a recovery. */
interface FirstTexts {
  readonly opened: string;
  readonly recovered: string;
}

const CHECK_TEXTS: FirstTexts = { opened: "First failing check", recovered: "First good check" };
const PING_TEXTS: FirstTexts = { opened: "First missed or failed ping", recovered: "First good ping" };

/** Returns the lines about first observations for a type of check. */
export function firstTexts(checkType: string): FirstTexts {
  return isHeartbeat(checkType) ? PING_TEXTS : CHECK_TEXTS;
}

/** Says that the outage of another monitor holds notices back. */
export function holdText(monitorId: number): string {
  return `Notices are held back while monitor ${monitorId}, on which this one depends, is down`;
}

/** Addresses entries to an incident. */
export function addressTo(incidentId: number, entries: readonly NewEntry[]): readonly AddressedEntry[] {
  return entries.map((entry) => ({ ...entry, incidentId }));
}
