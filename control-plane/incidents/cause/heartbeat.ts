import { plainLine } from "#control-plane/incidents/cause/plain-line.ts";
import type { Cause, Fault } from "#control-plane/incidents/incident.ts";

/** Check type of monitors that wait for pings. */
const HEARTBEAT = "heartbeat";

/** Reports whether monitors of this type wait for pings, so that their faults are whole clauses without a location. */
export function isHeartbeat(checkType: string): boolean {
  return checkType === HEARTBEAT;
}

/**
 * Returns the cause of a heartbeat's outage, in lower case: its fault's message, such as "the run failed with exit code
 * 3". `most` is the maximum length of the message.
 */
export function describeHeartbeat(fault: Fault | null, most: number): Cause {
  const message = fault === null ? "" : plainLine(fault.message, most);
  return { code: fault?.reason ?? "unknown", message: message || "a ping was missed or reported a failure" };
}
