import { HSTS_SIX_MONTHS, parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import { outcome, type SecurityView, type TestOutcome } from "#probe-agent/analysis/web/security/outcome.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";

/** Runs MDN's test strict-transport-security. The preload list overrides the header, but not a lack of HTTPS. */
export function hstsTest({ snapshot, headers }: SecurityView): TestOutcome {
  const value = joinedHeader(headers, "strict-transport-security");
  if (!snapshot.https) return outcome("hsts-not-implemented-no-https", false, value);
  if (snapshot.hsts_preloaded !== null) return outcome("hsts-preloaded", true, value);
  if (!snapshot.verified) return outcome("hsts-invalid-cert", false, value);
  if (value === null) return outcome("hsts-not-implemented", false, null);
  const { maxAge } = parseHsts(value);
  if (maxAge === null) return outcome("hsts-header-invalid", false, value);
  return maxAge >= HSTS_SIX_MONTHS
    ? outcome("hsts-implemented-max-age-at-least-six-months", true, value)
    : outcome("hsts-implemented-max-age-less-than-six-months", false, value);
}

/** Runs MDN's test redirection. */
export function redirectionTest({ snapshot }: SecurityView): TestOutcome {
  const route = snapshot.redirects.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url)] : []));
  const [first, second] = route;
  const last = route.at(-1);
  const value = route.map((url) => url.href).join(" -> ");
  if (first === undefined || last === undefined) return outcome("redirection-not-needed-no-http", true, null);
  if (!snapshot.verified) return outcome("redirection-invalid-cert", false, value);
  if (route.every((url) => isPreloaded(snapshot, url.hostname))) {
    return outcome("redirection-all-redirects-preloaded", true, value);
  }
  if (second === undefined) return outcome("redirection-missing", false, value);
  if (last.protocol !== "https:") return outcome("redirection-not-to-https", false, value);
  if (second.protocol === "http:") return outcome("redirection-not-to-https-on-initial-redirection", false, value);
  return first.protocol === "http:" && first.hostname !== second.hostname
    ? outcome("redirection-off-host-from-http", false, value)
    : outcome("redirection-to-https", true, value);
}

/** Reports whether a host is preloaded. Only the entry of the page's host is known; it may include subdomains. */
function isPreloaded(snapshot: SecuritySnapshot, host: string): boolean {
  if (snapshot.hsts_preloaded === null) return false;
  const own = new URL(snapshot.url).hostname;
  return host === own || (snapshot.hsts_preloaded.include_subdomains && host.endsWith(`.${own}`));
}
