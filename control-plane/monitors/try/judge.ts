import type { MonitorPhases } from "#shared/monitor-checks/define.ts";
import type { Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { fromPlaces, nameLocation } from "#control-plane/notify/events/places.ts";
import type { Cause } from "#control-plane/outages/incidents/incident.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";
import { decideAtOnce } from "#control-plane/outages/state/votes.ts";

/** A check of a monitor that is tried, under its names in the API. */
interface TriedCheck {
  /** ISO 8601: when it began. */
  readonly checked_at: string;
  readonly location: string;
  readonly status: "up" | "down" | "unknown" | "degraded";
  readonly response_time_ms: number | null;
  readonly http_status_code: number | null;
  /** The parts of the response time, whole milliseconds; null: the kind has none. */
  readonly timing: MonitorPhases | null;
  readonly error: CheckFault | null;
}

/** What the checks of a monitor that is tried say, under their names in the API. */
export interface Judged {
  readonly verdict: "up" | "degraded" | "down" | "unknown";
  /** null if it is up. */
  readonly cause: Cause | null;
  readonly checks: readonly TriedCheck[];
}

/** What a check at one location found. */
export interface FoundAt {
  readonly location: string;
  /** Unix milliseconds. */
  readonly beganAt: number;
  readonly finding: Finding;
}

/**
 * Judges a monitor that has no history by one check from each of its locations: each counts at once, without the re-checks
 * that confirm an outage. It is degraded if every good answer is slower than degraded_ms.
 */
export function judgeChecks(draft: MonitorDraft, found: readonly FoundAt[]): Judged {
  const observed = found.map(({ location, beganAt, finding: { verdict, fault } }) => {
    return { location, beganAt, verdict, fault };
  });
  const { status, isSole } = decideAtOnce(draft, observed);
  const checks = found.map((one) => showCheck(draft, one));
  const good = checks.filter((check) => check.status === "up" || check.status === "degraded");
  const slow = good.filter((check) => check.status === "degraded");
  if (status === "up" && slow.length === good.length) {
    return { verdict: "degraded", cause: describeSlow(draft, slow), checks };
  }
  if (status === "up") return { verdict: "up", cause: null, checks };
  const failing = observed.flatMap(({ location, verdict, fault }) =>
    verdict === "down" ? [isSole ? { location, fault, isSole } : { location, fault }] : [],
  );
  const target = { url: draft.url, checkType: draft.check_type, settings: draft };
  const cause = failing.length > 0 ? describeCause(target, failing) : describeUnknown(observed);
  return { verdict: status, cause, checks };
}

function showCheck({ degraded_ms: limitMs }: MonitorDraft, { location, beganAt, finding }: FoundAt): TriedCheck {
  const { verdict, responseMs, httpStatus, phases, fault } = finding;
  const isSlow = verdict === "up" && limitMs !== null && (responseMs ?? 0) > limitMs;
  return {
    checked_at: new Date(beganAt).toISOString(),
    location,
    status: isSlow ? "degraded" : verdict,
    response_time_ms: responseMs,
    http_status_code: httpStatus,
    timing: phases === null ? null : wholeMilliseconds(phases),
    error: fault,
  };
}

function wholeMilliseconds(phases: MonitorPhases): MonitorPhases {
  const { redirect_ms, dns_ms, connect_ms, tls_ms, processing_ms } = phases;
  return {
    redirect_ms: Math.round(redirect_ms),
    dns_ms: Math.round(dns_ms),
    connect_ms: Math.round(connect_ms),
    tls_ms: Math.round(tls_ms),
    processing_ms: Math.round(processing_ms),
  };
}

function describeSlow({ locations, degraded_ms: limitMs }: MonitorDraft, slow: readonly TriedCheck[]): Cause {
  const places = fromPlaces(
    slow.map(({ location }) => nameLocation(location)),
    locations.length,
  );
  const slowest = Math.max(...slow.map(({ response_time_ms: ms }) => ms ?? 0));
  return { code: "slow", message: `Answered in up to ${slowest} ms${places}; degraded_ms is ${limitMs}` };
}

/** Says why nothing is known: the reason at the first location. */
function describeUnknown(observed: readonly { readonly location: string; readonly fault: CheckFault | null }[]): Cause {
  const [first] = observed;
  if (first?.fault == null) return { code: "unknown", message: "Nothing is known about the target" };
  const { reason, message } = first.fault;
  return { code: reason, message: `Nothing is known from ${nameLocation(first.location)}: ${message}` };
}
