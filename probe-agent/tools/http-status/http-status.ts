import { ok } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { httpStatus as contract } from "#shared/tools/http-status/contract.ts";
import { cacheFindings } from "#probe-agent/analysis/http/cache-findings.ts";
import { RESPONSE_ADVICE, responseFindings } from "#probe-agent/analysis/http/response-findings.ts";
import { adviseOn, finding, fitFindings, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { cacheReport } from "#probe-agent/analysis/http/cache-report.ts";
import { describeStatus, retryAfterSeconds } from "#probe-agent/tools/http-status/describe.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import { redirectsByHttp } from "#probe-agent/analysis/web/redirect-chain.ts";
import { forbidsAll, parseRobotsTags } from "#probe-agent/analysis/http/robots-tag.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { timingReport } from "#probe-agent/analysis/network/request-timing.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";
import { implement } from "#probe-agent/tools/implement.ts";

type Result = ResultOf<typeof contract>;

/** Limits for reading the body, which is read only for its transfer time. An endless stream also has a status. */
const BODY_MS = 3000;
const BODY_BYTES = 5 * 1024 * 1024;
const MAX_TEXT = 300;
/** Errors of bodies that were nevertheless read to their end (net/http/body.ts, framing.ts). */
const READ_TO_THE_END = new Set([
  "bad_content_length",
  "unsupported_transfer_coding",
  "unknown_encoding",
  "too_many_encodings",
]);

/** Reports the status and headers of one GET request. */
export const httpStatus = implement(contract, async (net, { url }) => {
  const now = net.now();
  const request = { url, method: "GET", follow: false, maxBodyBytes: BODY_BYTES, bodyTimeoutMs: BODY_MS } as const;
  const fetched = await net.http.fetch(request);
  return fetched.status === "ok" ? ok(report(fetched.data, now)) : fetched;
});

function report(page: PageSnapshot, now: Date): Result {
  const { final } = page;
  const { headers, code, location, tls } = final;
  const { name, ...description } = describeStatus(code);
  const first = (header: string): string | null => headerValues(headers, header)[0] ?? null;
  const length = first("content-length");
  const retryAfter = first("retry-after");
  const retryAfterS = retryAfter === null ? null : retryAfterSeconds(retryAfter, now);
  const tags = parseRobotsTags(headerValues(headers, "x-robots-tag"));
  const ofRetryAfter: FindingDraft<"bad-retry-after">[] = [];
  if (retryAfter !== null && retryAfterS === null) {
    const message = `Retry-After is ${JSON.stringify(cut(retryAfter))}, which is neither a number of seconds nor a date.`;
    ofRetryAfter.push(finding("bad-retry-after", "Retry-After", message));
  }
  const findings = [
    ...responseFindings(final),
    ...adviseOn(RESPONSE_ADVICE, ofRetryAfter, null),
    ...cacheFindings(headers, now),
  ];
  return {
    url: page.url,
    code,
    reason: name ?? cut(final.statusText),
    status_text: cut(final.statusText),
    ...description,
    ok: description.class === "success",
    http_version: final.httpVersion,
    ip: final.ip,
    ip_version: final.ipVersion,
    port: final.port,
    ...timingReport(page),
    informational: [...(final.informational ?? [])],
    redirected: redirectsByHttp(final),
    location,
    server: cutOrNull(joinedHeader(headers, "server")),
    content_type: cutOrNull(joinedHeader(headers, "content-type")),
    content_length: length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null,
    retry_after_s: retryAfterS,
    cache: plain(cacheReport(headers, code, now)),
    robots: { tags: plain(tags), noindex: forbidsAll(tags, "noindex"), nofollow: forbidsAll(tags, "nofollow") },
    tls: tls === null ? null : { protocol: tls.protocol, authorized: tls.authorized, error: tls.error },
    findings: fitFindings(findings).findings,
    source: ["page"],
    observed_at: now.toISOString(),
    limitations: [
      ...(page.body.truncated || (page.body.error !== null && !READ_TO_THE_END.has(page.body.error))
        ? [
            `The body was not read to its end (${page.body.error ?? "too large"}): transfer_ms covers only the part that was read.`,
          ]
        : []),
      ...(final.blocked.length > 0 ? ["This service is not allowed to contact some addresses of the host."] : []),
    ],
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed();
}

function cutOrNull(text: string | null): string | null {
  return text === null ? null : cut(text);
}
