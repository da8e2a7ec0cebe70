import { ok } from "#shared/contracts/outcome.ts";
import { createRedact, secretValues, type Redact } from "#shared/text/redact.ts";
import type { MonitorPhases } from "#shared/monitor-checks/define.ts";
import { monitorHttp as contract } from "#shared/monitor-checks/monitor-http.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { examineBody } from "#probe-agent/monitor-checks/http/body.ts";
import {
  examineCertificates,
  examineFinal,
  examineRedirects,
  examineStatus,
} from "#probe-agent/monitor-checks/http/head.ts";
import { findRevoked, markRevoked } from "#probe-agent/monitor-checks/http/revocation.ts";
import { redactReport } from "#probe-agent/monitor-checks/http/redact-report.ts";
import type { Hop, HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { reportFetch } from "#probe-agent/tools/check/report.ts";
import { reverseOf } from "#probe-agent/tools/check/reverse.ts";
import { implement } from "#probe-agent/tools/implement.ts";

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
