import type { Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { atAddress, describeTrustFault } from "#probe-agent/analysis/tls/trust-fault.ts";
import type { Hop, PageSnapshot } from "#probe-agent/port/http.ts";
import { endlessRedirects } from "#probe-agent/tools/check/endless.ts";

/** Ranges of statuses, both ends included. */
type CodeRanges = readonly (readonly [number, number])[];

const RANGES_SHOWN = 5;
/** Maximum length of a Location in a message, in characters. */
const LOCATION_SHOWN = 200;

/**
 * Returns the fault of the first certificate on the way that is not trusted; null if all are. `revoked`: words for each
 * response whose certificate is trusted but for its revocation.
 */
export function examineCertificates(
  { hops }: PageSnapshot,
  now: Date,
  revoked: ReadonlyMap<Hop, string>,
  redact: Redact,
): MonitorFault | null {
  const [first] = hops;
  for (const hop of hops) {
    const isRevoked = revoked.has(hop);
    if (hop.tls === null || (hop.tls.authorized && !isRevoked)) continue;
    const { hostname, host } = new URL(hop.url);
    const trust =
      revoked.get(hop) ?? describeTrustFault(hop.tls, hop === first ? hostname : redact(hostname), now, redact);
    const words = atAddress(trust, hop.ip, hop.addresses.length);
    return {
      stage: "tls",
      reason: isRevoked ? "revoked" : (hop.tls.error ?? "untrusted"),
      message: hop === first ? words : `after a redirect, at ${redact(host)}: ${words}`,
    };
  }
  return null;
}

/** Returns the fault of redirects without an end; null if they end. */
export function examineRedirects(page: PageSnapshot, redact: Redact): MonitorFault | null {
  const endless = endlessRedirects({ ...page, finalUrl: redact(page.finalUrl) });
  return endless === null ? null : { stage: endless.stage, reason: endless.reason, message: endless.message };
}

/** Returns the fault of the final response: a redirect that cannot be followed, or another unexpected status. */
export function examineFinal(
  { final, hops, stopped }: PageSnapshot,
  expected: CodeRanges,
  redact: Redact,
): MonitorFault | null {
  const fault = examineStatus(final.code, expected);
  if (fault === null) return fault;
  if (stopped !== "bad_location") return hops.length > 1 ? explainFollowing(fault, expected) : fault;
  const { code, location } = final;
  const leads = location === null ? "has no usable Location" : `leads to ${redact(location).slice(0, LOCATION_SHOWN)}`;
  return { stage: "response", reason: "bad_location", message: `the redirect (${code}) ${leads}` };
}

/** Says that a redirect was followed, where a redirect is expected. */
function explainFollowing(fault: MonitorFault, expected: CodeRanges): MonitorFault {
  const isRedirect = expected.some(([from, to]) => to >= 300 && from <= 399);
  if (!isRedirect) return fault;
  return {
    ...fault,
    message: `${fault.message} after a redirect was followed; with follow false the first response counts`,
  };
}

/** Returns the fault of a status that is not expected; null if it is. */
export function examineStatus(code: number, expected: CodeRanges): MonitorFault | null {
  if (expected.some(([from, to]) => code >= from && code <= to)) return null;
  return {
    stage: "response",
    reason: "unexpected_status",
    message: `expected ${describeRanges(expected)}, got ${code}`,
  };
}

function describeRanges(ranges: CodeRanges): string {
  const shown = ranges.slice(0, RANGES_SHOWN).map(([from, to]) => (from === to ? String(from) : `${from}-${to}`));
  return [...shown, ...(ranges.length > shown.length ? ["..."] : [])].join(", ");
}
