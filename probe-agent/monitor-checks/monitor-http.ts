import { ok } from "#shared/contracts/outcome.ts";
import { createRedact, secretValues, type Redact } from "#shared/text/redact.ts";
import type { MonitorPhases, MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorHttp as contract } from "#shared/monitor-checks/monitor-http.ts";
import type { ParamsOf, ResultOf } from "#shared/tools/define.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { examineBody } from "#probe-agent/monitor-checks/http-body.ts";
import type { Hop, HttpRequest, PageSnapshot, HopTls } from "#probe-agent/port/http.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { reportFetch, reverseOf, endlessRedirects } from "#probe-agent/tools/check/check.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { describeRevocation } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import { keptRevocation } from "#probe-agent/sources/kept-revocation.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";
import type { check } from "#shared/tools/check/contract.ts";
import { atAddress, describeTrustFault } from "#probe-agent/analysis/tls/trust-fault.ts";

type Params = ParamsOf<typeof contract>;

/** Maximum number of decoded octets of a body that are read. A longer one counts as complete. */
const READ_BYTES = 1024 * 1024;
/** Part of the check's time that is kept to search the keyword, in milliseconds. */
const RESERVE_MS = 100;

/** No certificate is revoked. */
const NONE: ReadonlyMap<Hop, string> = new Map();

/**
 * Checks a URL by one fetch. Whether its certificates are revoked is asked at most once an hour, and only if nothing else
 * is wrong, so that an authority delays no outage. The body must be complete, whatever the method. Failures are those of
 * the fetch; stage response and source probe (busy, too_slow ...) if the body could not be examined.
 */
export const monitorHttp = implement(contract, async (net, params) => {
  const startedAt = net.now();
  const redact = createRedact([...secretValues(params.headers), ...(params.body === null ? [] : [params.body])]);
  const fetched = await net.http.fetch({ ...requestOf(net, params), redact });
  if (fetched.status !== "ok") return fetched;
  const found = fetched.data;
  const examineHead = (hops: ReadonlyMap<Hop, string>) =>
    examineCertificates(found, net.now(), hops, redact) ??
    examineRedirects(found, redact) ??
    examineFinal(found, params.expected, redact);
  const revoked = await findRevoked(net, found, examineHead(NONE) === null, redact);
  const page = markRevoked(found, revoked);
  const headFault = examineHead(revoked);
  const examined =
    headFault === null && isBodyJudged(params) ? await examineBody(net, page, params, redact) : ok(headFault);
  if (examined.status !== "ok") return examined;
  const finding = {
    fault: examined.data,
    responseMs: timeToHeader(page),
    httpStatus: page.final.code,
    phases: phasesOf(page),
    certificate: page.hops[0]?.tls?.chain[0] ?? null,
  };
  return ok(await answerWith(finding, params, () => createWhole(net, params, page, { startedAt, redact })));
});

/** Reports whether the verdict depends on the body, which a response to HEAD does not have. */
function isBodyJudged({ method, keyword, json }: Params): boolean {
  return method !== "HEAD" || keyword !== null || json !== null;
}

function requestOf(net: Net, params: Params): HttpRequest {
  const { url, method, follow, headers, body, expected, keyword } = params;
  return {
    url,
    method,
    follow,
    headers,
    ...(method === "POST" && body !== null ? { body: Buffer.from(body) } : {}),
    needsBody: ({ code }) => examineStatus(code, expected) === null,
    maxBodyBytes: READ_BYTES,
    // What arrives in time can have the keyword.
    ...(keyword !== null && { bodyTimeoutMs: () => Math.max(0, net.remainingMs() - RESERVE_MS) }),
  };
}

/** Returns the milliseconds from the start to the first byte of the final response. */
function timeToHeader({ final: { startedAtUs, timing } }: PageSnapshot): number {
  return (startedAtUs + timing.total - timing.transfer) / 1_000;
}

function phasesOf({ final: { startedAtUs, timing } }: PageSnapshot): MonitorPhases {
  return {
    redirect_ms: startedAtUs / 1_000,
    dns_ms: timing.dns / 1_000,
    connect_ms: timing.connect / 1_000,
    tls_ms: timing.tls / 1_000,
    processing_ms: timing.ttfb / 1_000,
  };
}

/** Returns the result of the check tool for the same fetch; null where that tool fails. */
async function createWhole(
  net: Net,
  { method }: Params,
  page: PageSnapshot,
  { startedAt, redact }: { readonly startedAt: Date; readonly redact: Redact },
): Promise<unknown> {
  if (examineRedirects(page, redact) !== null) return null;
  const isUnread = method !== "HEAD" && page.body.transferredBytes === 0;
  const shown = isUnread ? { ...page, body: { ...page.body, truncated: true } } : page;
  const report = reportFetch(shown, { method, startedAt, reverse: await reverseOf(net, page.final.ip) });
  return redactReport(report, redact);
}

/** Responses whose certificate is revoked, each with the words for it. */
type RevokedHops = ReadonlyMap<Hop, string>;

/**
 * Time for which a check waits for an authority, in milliseconds. A slower answer is not known to it: certificates are
 * examined in full once a day.
 */
const WAIT_MS = 3_000;
/** Part of the check's time that is kept for its answer, in milliseconds. */
const REVOCATION_RESERVE_MS = 300;

/**
 * Finds the responses over a trusted certificate that is known to be revoked. Authorities are asked only if `mayAsk`, and
 * at most once an hour for all checks of this agent. What they do not answer is not known, and no fault.
 */
async function findRevoked(net: Net, { hops }: PageSnapshot, mayAsk: boolean, redact: Redact): Promise<RevokedHops> {
  const waitMs = mayAsk ? Math.min(WAIT_MS, net.remainingMs() - REVOCATION_RESERVE_MS) : 0;
  const found = await Promise.all(
    hops.map(async (hop) => {
      const words = hop.tls?.authorized === true ? await describeRevoked(net, hop.tls, waitMs, redact) : null;
      return words === null ? [] : [[hop, words] as const];
    }),
  );
  return new Map(found.flat());
}

/** Returns the page with the verdict on its revoked certificates, as the result of the check tool shows it. */
function markRevoked(page: PageSnapshot, revoked: RevokedHops): PageSnapshot {
  if (revoked.size === 0) return page;
  const mark = (hop: Hop): Hop =>
    hop.tls === null || !revoked.has(hop) ? hop : { ...hop, tls: { ...hop.tls, authorized: false, error: "revoked" } };
  return { ...page, hops: page.hops.map(mark), final: mark(page.final) };
}

async function describeRevoked(net: Net, { path }: HopTls, waitMs: number, redact: Redact): Promise<string | null> {
  const ask = async () => {
    const certificates = path.flatMap((der) => parseCertificate(der) ?? []);
    const [leaf, issuer = null] = certificates;
    if (leaf === undefined) throw new Error("a trusted path has no certificate");
    const chain = { leaf, issuer, anchored: true, verification: { path: certificates } };
    return checkRevocation(net, chain, null, REVOCATION_RESERVE_MS);
  };
  const { revoked, revocation } = await keptRevocation(path, { now: net.now(), waitMs, ask });
  return revoked ? describeRevocation(revocation, redact) : null;
}

type Report = ResultOf<typeof check>;

/**
 * Returns the result of the check tool with the words of its servers redacted. The rest of it are our own words, numbers,
 * and the URL of the monitor.
 */
function redactReport(report: Report, redact: Redact): Report {
  const orNull = (words: string | null): string | null => (words === null ? null : redact(words));
  const { redirects, tls, body } = report;
  const certificate = tls?.certificate ?? null;
  return {
    ...report,
    final_url: redirects.length === 0 ? report.final_url : redact(report.final_url),
    status_text: redact(report.status_text),
    remote: { reverse: orNull(report.remote.reverse) },
    headers: report.headers.map(({ name, value }) => ({ name: redact(name), value: redact(value) })),
    redirects: redirects.map((hop, at) => ({
      ...hop,
      url: at === 0 ? hop.url : redact(hop.url),
      location: orNull(hop.location),
    })),
    tls: tls && {
      ...tls,
      certificate: certificate && {
        ...certificate,
        subject: redact(certificate.subject),
        issuer: redact(certificate.issuer),
        san: certificate.san.map(redact),
      },
    },
    body: {
      ...body,
      content_type: orNull(body.content_type),
      charset: orNull(body.charset),
      encoding: orNull(body.encoding),
    },
  };
}

/** Ranges of statuses, both ends included. */
type CodeRanges = readonly (readonly [number, number])[];

const RANGES_SHOWN = 5;
/** Maximum length of a Location in a message, in characters. */
const LOCATION_SHOWN = 200;

/**
 * Returns the fault of the first certificate on the way that is not trusted; null if all are. `revoked`: words for each
 * response whose certificate is trusted but for its revocation.
 */
function examineCertificates(
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
function examineRedirects(page: PageSnapshot, redact: Redact): MonitorFault | null {
  const endless = endlessRedirects({ ...page, finalUrl: redact(page.finalUrl) });
  return endless === null ? null : { stage: endless.stage, reason: endless.reason, message: endless.message };
}

/** Returns the fault of the final response: a redirect that cannot be followed, or another unexpected status. */
function examineFinal(
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
function examineStatus(code: number, expected: CodeRanges): MonitorFault | null {
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
