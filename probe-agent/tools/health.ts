import { ok } from "#shared/outcome.ts";
import { health as contract } from "#shared/tools/health.ts";
import { isHtml, readPage } from "#probe-agent/analysis/html.ts";
import { medianMs } from "#probe-agent/analysis/health/performance.ts";
import { scoreHealth } from "#probe-agent/analysis/health/score.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/health/snapshot.ts";
import { joinedHeader } from "#probe-agent/analysis/security/snapshot.ts";
import { unknown, type Unknown } from "#probe-agent/analysis/unknown.ts";
import type { Net } from "#probe-agent/net/port.ts";
import type { PageSnapshot } from "#probe-agent/net/port/http.ts";
import { askPlainHttp } from "#probe-agent/sources/plain-http.ts";
import { fetchSiteFile } from "#probe-agent/sources/site-file.ts";
import { gatherIpv6, gatherTtfb } from "#probe-agent/tools/health/site.ts";
import { gatherTls, type TlsTarget } from "#probe-agent/tools/health/tls.ts";
import { within } from "#probe-agent/within.ts";
import { implement, type Implementation } from "#probe-agent/tools/implement.ts";

/** Where HTTP and TLS are looked for beside the page. */
export interface WebPorts {
  readonly http: number;
  readonly https: number;
}

/** The longest any part beside the page may take, and what is kept back for the score. */
const PART_MS = 15_000;
const RESERVE_MS = 1500;
const ROBOTS_BYTES = 512 * 1024;
const SECURITY_TXT_BYTES = 64 * 1024;

/** The page first; then all that stands beside it at once; then the score of what was seen. */
export function healthOn(
  ports: WebPorts,
): Implementation<typeof contract.params.properties, typeof contract.result.properties> {
  return implement(contract, async (net, { url }) => {
    const now = net.now();
    const fetched = await net.http.fetch({ url, method: "GET", follow: true });
    if (fetched.status !== "ok") return fetched;
    const page = fetched.data;
    const snapshot = await gather(net, page, now, ports);
    const result = scoreHealth(snapshot);
    return ok({
      url: page.url,
      final_url: page.finalUrl,
      ...result,
      ttfb_ms: medianMs(snapshot.ttfbSamplesMs),
      ttfb_samples_ms: [...snapshot.ttfbSamplesMs],
      total_ms: snapshot.totalMs,
      observed_at: now.toISOString(),
      limitations: limitationsOf(snapshot, page),
    });
  });
}

/** Website health on the usual ports. */
export const health = healthOn({ http: 80, https: 443 });

async function gather(net: Net, page: PageSnapshot, now: Date, ports: WebPorts): Promise<HealthSnapshot> {
  const budget = Math.min(PART_MS, net.remainingMs() - RESERVE_MS);
  const part = <T>(what: string, work: Promise<T>): Promise<T | Unknown> =>
    within<T | Unknown>(budget, work, unknown(`${what} took too long.`));
  const { origin, hostname } = new URL(page.finalUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const ownTtfb = Math.round(page.final.timing.ttfb / 1000);
  const [tls, http, robots, securityTxt, ipv6, ttfbSamplesMs] = await Promise.all([
    part("Looking at TLS", gatherTls(net, tlsTarget(page, host, ports))),
    part("Asking over http://", askPlainHttp(net, page, ports.http)),
    part("/robots.txt", fetchSiteFile(net, origin, "/robots.txt", ROBOTS_BYTES)),
    part("security.txt", fetchSiteFile(net, origin, "/.well-known/security.txt", SECURITY_TXT_BYTES)),
    part("Connecting over IPv6", gatherIpv6(net, host, page.final)),
    within(budget, gatherTtfb(net, page), [ownTtfb]),
  ]);
  const preloaded = net.data.hstsPreload(new URL(page.url).hostname) !== null;
  return { ...pageFacts(page), now, preloaded, ttfbSamplesMs, tls, http, robots, securityTxt, ipv6 };
}

/** The page's own TLS; for a page over http, the TLS port of its host. */
function tlsTarget({ final }: PageSnapshot, host: string, ports: WebPorts): TlsTarget {
  const seen = final.url.startsWith("https:");
  return { host, port: seen ? final.port : ports.https, ip: final.ip, seen };
}

function pageFacts(page: PageSnapshot) {
  const { final, body } = page;
  const type = joinedHeader(final.headers, "content-type");
  return {
    url: page.url,
    finalUrl: page.finalUrl,
    status: final.code,
    httpVersion: final.httpVersion,
    headers: final.headers,
    redirects: page.hops.length - 1,
    totalMs: Math.round(page.elapsedUs / 1000),
    body,
    page: isHtml(type, body.bytes) ? readPage(body.bytes, type) : null,
  };
}

function limitationsOf(snapshot: HealthSnapshot, page: PageSnapshot): string[] {
  const { tls, http, robots, securityTxt, ipv6 } = snapshot;
  const suites = tls.known && tls.offered ? [tls.suites] : [];
  const unknowns = [tls, ...suites, http, robots, securityTxt, ipv6].flatMap((facts) =>
    facts.known ? [] : [facts.why],
  );
  return [
    ...unknowns,
    ...(page.stopped === null ? [] : [`The last response redirects on, which was not followed: ${page.stopped}.`]),
    ...(snapshot.page?.truncated === true ? ["The page is larger than what is looked at."] : []),
  ];
}
