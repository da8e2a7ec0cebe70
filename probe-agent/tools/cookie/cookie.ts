import { ok } from "#shared/contracts/outcome.ts";
import { cookie as contract } from "#shared/tools/cookie/contract.ts";
import { trackersAnalysis } from "#probe-agent/tools/cookie/trackers.ts";
import { describeCookieFindings } from "#probe-agent/tools/cookie/findings.ts";
import { cookiesAnalysis, type SeenCookie } from "#probe-agent/tools/cookie/report.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { leading, leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { analysePageOrHeaders, fetchSlowPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Maximum size of the list of cookies, of one of its texts and of the findings, in octets of JSON. */
const COOKIES_BYTES = 170_000;
const TEXT_BYTES = 1024;
const FINDINGS_BYTES = 40_000;

/** Analyses the cookies of a page and of the redirects to it. */
export const cookie = implement(contract, async (net, { url }) => {
  const now = net.now();
  const seen = await fetchSlowPage(net, url);
  if (seen.status !== "ok") return seen;
  const read = await analysePageOrHeaders(net, seen.data, trackersAnalysis, {});
  if (read.status !== "ok") return read;
  const { head, snapshot, observedAt } = seen.data;
  const hops = snapshot.hops.map((hop) => ({ url: hop.url, headers: hop.headers }));
  const reported = await runAnalysis(net, cookiesAnalysis, { hops, pageUrl: snapshot.finalUrl, now });
  if (reported.status !== "ok") return reported;
  const { cookies, graded, grade, score } = reported.data;
  const fitted = fitFindings(describeCookieFindings(cookies), FINDINGS_BYTES);
  const shown = leading(cookies.map(describeRow), COOKIES_BYTES);
  const number = (test: (one: SeenCookie) => boolean): number => cookies.filter(test).length;
  return ok({
    ...head,
    grade,
    score,
    findings: fitted.findings,
    note: graded > 0 ? null : noteOf(cookies.length),
    summary: {
      total: cookies.length,
      graded,
      rejected: number((one) => one.cookie.rejected_reason !== null),
      secure: number((one) => one.cookie.secure),
      http_only: number((one) => one.cookie.http_only),
      same_site: number((one) => one.cookie.same_site !== null),
      third_party: number((one) => !one.firstParty),
      trackers: number((one) => one.purpose === "analytics" || one.purpose === "ads"),
    },
    cookies: shown,
    trackers_in_html: read.data.report,
    source: ["page"],
    observed_at: observedAt,
    limitations: [
      "Scripts are not executed: cookies that they set, and trackers that they load, are not detected.",
      ...read.data.limitations,
      ...fitted.limitations,
      ...(shown.length < cookies.length
        ? [`Only the first ${shown.length} of ${cookies.length} cookies are listed.`]
        : []),
    ],
  });
});

function noteOf(total: number): string {
  return total === 0 ? "No cookie was set." : "All cookies that were set are dropped by browsers or deleted.";
}

function describeRow({
  cookie: one,
  hopUrl,
  firstParty,
  purpose,
  vendor,
  prefix,
  prefixValid,
  deletes,
  issues,
}: SeenCookie) {
  return {
    name: leadingText(one.name, TEXT_BYTES),
    value_length: Buffer.byteLength(one.value),
    domain: leadingText(one.domain, TEXT_BYTES),
    host_only: one.host_only,
    path: leadingText(one.path, TEXT_BYTES),
    expires: one.expires?.toISOString() ?? null,
    max_age_s: one.max_age_s,
    session: one.session,
    deletes,
    secure: one.secure,
    http_only: one.http_only,
    same_site: one.same_site,
    partitioned: one.partitioned,
    priority: one.priority === null ? null : leadingText(one.priority, TEXT_BYTES),
    prefix: prefix === null ? null : { name: prefix, valid: prefixValid },
    size_bytes: one.size_bytes,
    first_party: firstParty,
    purpose,
    vendor,
    hop_url: leadingText(hopUrl, 2048),
    rejected_reason: one.rejected_reason,
    penalties: issues.map(({ id, penalty }) => ({ id, points: penalty })),
  };
}
