import { cutLine, toPlainLine } from "#shared/text/plain-line.ts";
import type { Cause, Fault } from "#control-plane/incidents/incident.ts";
import { kindOf } from "#control-plane/kinds/kinds.ts";

/**
 * Returns the cause of an outage of a kind whose faults are whole clauses without a location, in lower case: its fault's
 * message, such as "the run failed with exit code 3". `most` is the maximum length of the message. null for other kinds.
 */
export function describeClause(checkType: string, fault: Fault | null, most: number): Cause | null {
  const { unexplained } = kindOf(checkType).words;
  if (unexplained === null) return null;
  const message = fault === null ? "" : cutLine(toPlainLine(fault.message, most), most);
  return { code: fault?.reason ?? "unknown", message: message || unexplained };
}
