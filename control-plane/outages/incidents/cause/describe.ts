import { describeFault, type DescribedFault } from "#control-plane/outages/incidents/cause/fault.ts";
import { aloneOf, countLocations, fromPlaces, nameLocation } from "#control-plane/notify/events/places.ts";
import { cutLine, toPlainLine } from "#shared/text/plain-line.ts";
import type { Cause, FailingLocation, Fault, MonitorTarget } from "#control-plane/outages/incidents/incident.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";

/** Maximum length of a cause, in UTF-16 code units. */
const MOST_CAUSE = 300;
/** Maximum number of different causes in the sentence. */
const MOST_CLAUSES = 3;

/** Locations with the same cause. */
interface Group {
  readonly fault: DescribedFault;
  readonly locations: string[];
  /** Whether its location is the only one that can check. */
  readonly isSole: boolean;
}

/**
 * Says in one sentence why a monitor is down, such as "Connection refused from eu-west (port 443)". Locations with the
 * same cause are joined; the most frequent cause is first, and its word is the code. A location that is the only one that
 * can check is called that, because no other has confirmed what it found. The fault of a kind without locations is a sentence already.
 */
export function describeCause(monitor: MonitorTarget, failing: readonly FailingLocation[]): Cause {
  const clause = describeClause(monitor.checkType, failing[0]?.fault ?? null, MOST_CAUSE);
  if (clause !== null) return { code: clause.code, message: capitalize(clause.message) };
  const groups = groupFaults(monitor, failing);
  const total = Math.max(monitor.settings.locations.length, failing.length);
  const clauses = groups.slice(0, MOST_CLAUSES).map((group) => describeGroup(group, total));
  const others = groups.slice(MOST_CLAUSES).reduce((sum, { locations }) => sum + locations.length, 0);
  if (others > 0) clauses.push(`other causes from ${countLocations(others)}`);
  const sentence = clauses.length === 0 ? "the check failed" : clauses.join("; ");
  return {
    code: groups[0]?.fault.code ?? "unknown",
    message: cutLine(capitalize(sentence), MOST_CAUSE),
  };
}

/**
 * Says in one line why one location fails, for the timeline: "eu-west: connection refused (port 443)". Not all kinds
 * have locations.
 */
export function describeLocation(monitor: MonitorTarget, { location, fault }: FailingLocation): string {
  const clause = describeClause(monitor.checkType, fault, MOST_CAUSE);
  if (clause !== null) return capitalize(clause.message);
  const { headline, suffix } = describeFault(monitor, fault);
  return cutLine(`${nameLocation(location)}: ${headline}${suffix}`, MOST_CAUSE);
}

/**
 * Reports whether two faults of one location are the same cause, for a reader: what is measured anew by each check can
 * differ. A fault that is not known is no change.
 */
export function isSameCause(monitor: MonitorTarget, one: Fault | null, other: Fault | null): boolean {
  if (one === null || other === null) return true;
  if (one.stage === other.stage && one.reason === other.reason && one.message === other.message) return true;
  if (describeClause(monitor.checkType, one, MOST_CAUSE) !== null) return false;
  return describeFault(monitor, one).key === describeFault(monitor, other).key;
}

/** Joins locations with the same cause. The most frequent cause is first, equally frequent ones in the given order. */
function groupFaults(monitor: MonitorTarget, failing: readonly FailingLocation[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { location, fault, isSole = false } of failing) {
    const described = describeFault(monitor, fault);
    const group = groups.get(described.key) ?? { fault: described, locations: [], isSole };
    group.locations.push(nameLocation(location));
    groups.set(described.key, group);
  }
  return [...groups.values()].toSorted((a, b) => b.locations.length - a.locations.length);
}

function describeGroup({ fault, locations, isSole }: Group, total: number): string {
  return `${fault.headline}${fromPlaces(locations, total)}${isSole ? aloneOf(total) : ""}${fault.suffix}`;
}

function capitalize(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/**
 * Returns the cause of an outage of a kind whose faults are whole clauses without a location, in lower case: its fault's
 * message, such as "the run failed with exit code 3". `most` is the maximum length of the message. null for other kinds.
 */
function describeClause(checkType: string, fault: Fault | null, most: number): Cause | null {
  const { unexplained } = kindOf(checkType).words;
  if (unexplained === null) return null;
  const message = fault === null ? "" : cutLine(toPlainLine(fault.message, most), most);
  return { code: fault?.reason ?? "unknown", message: message || unexplained };
}
