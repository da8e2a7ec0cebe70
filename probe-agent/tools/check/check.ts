import { ok, failed, type Failed } from "#shared/contracts/outcome.ts";
import { check as contract } from "#shared/tools/check/contract.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import type { PageSnapshot, Hop, HopTls } from "#probe-agent/port/http.ts";
import { classifyAddress } from "#shared/internet/egress.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { BODY_BREAKS, bodyBreakOf } from "#shared/tools/http-body.ts";
import { headerValues, mimeEssence } from "#probe-agent/analysis/http/header-list.ts";
import { RESPONSE_ADVICE, responseFindings } from "#probe-agent/analysis/http/response-findings.ts";
import { adviseOn, finding, fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { reportFamilies } from "#probe-agent/tools/check/address-families.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { hopTimingMs, hopTimingUs, timingReport } from "#probe-agent/analysis/network/request-timing.ts";
import type { Address } from "#probe-agent/port/address.ts";

/**
 * Reports one fetch. An endless chain of redirects is a failure of the target. The input {families: false} omits the
 * connection to the other address family.
 */
export const check = implement(contract, async (net, { url, method, follow, ua }, input = {}) => {
  const startedAt = net.now();
  const fetched = await net.http.fetch({
    url,
    method,
    follow,
    ...(ua === undefined ? {} : { userAgent: ua }),
    ...(input["families"] === false ? {} : { tryOtherFamily: true }),
  });
  if (fetched.status !== "ok") return fetched;
  const page = fetched.data;
  const endless = endlessRedirects(page);
  if (endless !== null) return endless;
  return ok(reportFetch(page, { method, startedAt, reverse: await reverseOf(net, page.final.ip) }));
});

/** Returns the failure of a chain of redirects that has no end within the limit; null if it has one. */
export function endlessRedirects({ hops, finalUrl, stopped }: PageSnapshot): Failed | null {
  const where = `after ${hops.length - 1} redirects, at ${finalUrl}`;
  if (stopped === "loop") return failed("response", "target", "redirect_loop", `${where}: the redirects form a loop`);
  if (stopped !== "too_many_redirects") return null;
  return failed(
    "response",
    "target",
    "too_many_redirects",
    `${where}: there are more redirects than this check follows`,
  );
}

/** Maximum wait for the PTR name after the response, in milliseconds. */
const REVERSE_MS = 250;

/** Looks up the PTR name of an address. Null if there is none in a short time, or if the address is private. */
export async function reverseOf(net: Net, ip: string): Promise<string | null> {
  const patience = Math.min(REVERSE_MS, net.remainingMs() / 2);
  if (classifyAddress(ip) === "refused") return null;
  let timer: NodeJS.Timeout | undefined;
  const timedOutRecords = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), patience);
  });
  const names = await Promise.race([net.dns.reverse(ip), timedOutRecords]);
  clearTimeout(timer);
  return names?.[0] ?? null;
}

type Result = ResultOf<typeof contract>;

/** Facts about a fetch that the snapshot does not have. */
interface FetchFacts {
  /** The method as requested; redirects may have changed it. */
  readonly method: string;
  /** When the fetch began. */
  readonly startedAt: Date;
  /** PTR name of the server's address; null if it is unknown. */
  readonly reverse: string | null;
}

/** Returns the result of the check tool for one fetch. */
export function reportFetch(page: PageSnapshot, { method, startedAt, reverse }: FetchFacts): Result {
  const { final } = page;
  return {
    url: page.url,
    final_url: page.finalUrl,
    method,
    code: final.code,
    status_text: final.statusText,
    http_version: final.httpVersion,
    ip: final.ip,
    ip_version: final.ipVersion,
    port: final.port,
    remote: { reverse },
    addresses: [...final.addresses.map(row(false)), ...final.blocked.map(row(true))],
    families: reportFamilies({
      ...final,
      ...(page.otherFamily === undefined ? {} : { otherFamily: page.otherFamily }),
    }),
    headers: final.headers.map(([name, value]) => ({ name, value })),
    findings: fitFindings([...responseFindings(final), ...bodyFindings(page)]).findings,
    redirects: page.hops.slice(0, -1).map(redirectRow),
    stopped: page.stopped,
    tls: final.tls === null ? null : describeSession(final.tls, startedAt),
    body: bodyReport(page),
    ...timingReport(page),
    observed_at: startedAt.toISOString(),
    limitations: limitationsOf(page),
  };
}

function row(blocked: boolean): (address: Address) => Result["addresses"][number] {
  return ({ ip, version }) => ({ ip, ip_version: version, blocked });
}

function redirectRow({ url, code, location, ip, httpVersion, timing }: Hop): Result["redirects"][number] {
  return {
    url,
    code,
    location,
    ip,
    http_version: httpVersion,
    timing: hopTimingMs(timing),
    timing_us: hopTimingUs(timing),
  };
}

function bodyReport({ final, body }: PageSnapshot): Result["body"] {
  const header = (name: string) => headerValues(final.headers, name)[0] ?? null;
  const type = header("content-type");
  const length = header("content-length");
  const charset = type === null ? null : /;\s*charset\s*=\s*"?([^\s";,]+)/i.exec(type);
  return {
    content_type: type === null ? null : mimeEssence(type),
    charset: charset?.[1]?.toLowerCase() ?? null,
    content_length: length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null,
    transferred_bytes: body.transferredBytes,
    decoded_bytes: body.decodedBytes,
    encoding: body.encoding,
    truncated: body.truncated,
    sha256: final.method === "HEAD" ? null : body.sha256,
    error: body.error,
  };
}

/** Returns a finding about an error of the body. A body that our limit truncates is not an error. */
function bodyFindings({ body }: PageSnapshot): Finding[] {
  if (body.error === null) return [];
  const broken = bodyBreakOf(body.error);
  const draft =
    broken === null
      ? finding("body-unreadable", null, `The body does not have the announced form: ${body.error}.`)
      : finding(
          "body-cut-short",
          null,
          `The body was cut short after ${body.transferredBytes} bytes: ${BODY_BREAKS[broken]}.`,
        );
  return adviseOn<keyof typeof RESPONSE_ADVICE, null>(RESPONSE_ADVICE, [draft], null);
}

function limitationsOf({ final, body }: PageSnapshot): string[] {
  const limitations: string[] = [];
  const broken = bodyBreakOf(body.error);
  if (broken !== null) {
    limitations.push(
      `The body was cut short: ${BODY_BREAKS[broken]}. Its sizes and hash are those of the received part.`,
    );
  }
  if (body.truncated)
    limitations.push("The body was not read to its end. Its sizes and hash are those of the part that was read.");
  if (final.blocked.length > 0) limitations.push("Addresses marked blocked were not contacted.");
  return limitations;
}

type TlsSession = NonNullable<ResultOf<typeof contract>["tls"]>;

/** Describes a session with its certificate and the expiry of its chain. Parts that cannot be read are null. */
function describeSession({ protocol, cipher, alpn, authorized, error, chain, path }: HopTls, now: Date): TlsSession {
  const certificates = readable(chain);
  const [leaf] = certificates;
  return {
    protocol,
    cipher,
    alpn,
    authorized,
    error,
    certificate: leaf === undefined ? null : certificateRow(leaf, now),
    chain_not_after: earliestEnd(certificates),
    path_not_after: earliestEnd(readable(path)),
  };
}

function certificateRow(leaf: Certificate, now: Date): NonNullable<TlsSession["certificate"]> {
  const { subject, issuer, san, fingerprint_sha256, not_before, not_after, days_left } = describeCertificate(leaf, now);
  return { subject, issuer, san, fingerprint_sha256, not_before, not_after, days_left };
}

function readable(ders: readonly Uint8Array[]): readonly Certificate[] {
  return ders.flatMap((der) => parseCertificate(der) ?? []);
}

/** Returns the earliest notAfter in ISO 8601, or null if there are no certificates. */
function earliestEnd(certificates: readonly Certificate[]): string | null {
  const ends = certificates.map(({ notAfter }) => notAfter.getTime());
  return ends.length === 0 ? null : new Date(Math.min(...ends)).toISOString();
}
