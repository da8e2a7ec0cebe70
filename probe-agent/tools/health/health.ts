import { ok } from "#shared/contracts/outcome.ts";
import { health as contract } from "#shared/tools/health/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { medianMs } from "#probe-agent/tools/health/performance.ts";
import { healthAnalysis, type HealthFacts } from "#probe-agent/tools/health/report.ts";
import { unknown, type Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpBody, PageSnapshot, Hop } from "#probe-agent/port/http.ts";
import { analysePageOrHeaders, fetchPage } from "#probe-agent/sources/page.ts";
import { askPlainHttp } from "#probe-agent/sources/plain-http.ts";
import { fetchSiteFile } from "#probe-agent/sources/site-file.ts";
import { gatherTls, type TlsTarget } from "#probe-agent/tools/health/tls.ts";
import { implement, type Implementation } from "#probe-agent/tools/implement.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import type { Ipv6Facts } from "#probe-agent/analysis/site/snapshot.ts";

/** Ports for HTTP and TLS other than the page's own port. */
export interface WebPorts {
  readonly http: number;
  readonly https: number;
}

/** Maximum time for each part other than the page, and time kept to compute the score, in milliseconds. */
const PART_MS = 15_000;
const RESERVE_MS = 1500;
const ROBOTS_BYTES = 512 * 1024;
const SECURITY_TXT_BYTES = 64 * 1024;

/** Maximum number of IPv6 addresses tried, and maximum time for each in milliseconds. */
const MAX_ADDRESSES = 2;
const CONNECT_MS = 4000;
/**
 * Maximum number of further samples of the first byte, maximum time for each, and minimum remaining time to start one.
 */
const SAMPLES = 2;
const SAMPLE_MS = 5000;
const SAMPLE_RESERVE_MS = 10_000;
/** Reasons of net.tcp that are caused by the probe's network, not by the site. */
const OWN_REASONS = new Set([
  "network_unreachable",
  "not_permitted",
  "out_of_sockets",
  "cancelled",
  "target_not_allowed",
]);

/**
 * Implements the tool with the given ports: fetches the page, then gathers all other parts at the same time, and
 * scores.
 */
export function healthOn(
  ports: WebPorts,
): Implementation<typeof contract.params.properties, typeof contract.result.properties> {
  return implement(contract, async (net, { url }) => {
    const now = net.now();
    const seen = await fetchPage(net, url);
    if (seen.status !== "ok") return seen;
    const { snapshot: page } = seen.data;
    const facts = await gather(net, page, now, ports);
    const read = await analysePageOrHeaders(net, seen.data, healthAnalysis, facts);
    if (read.status !== "ok") return read;
    return ok({
      url: page.url,
      final_url: page.finalUrl,
      ...read.data.report,
      ttfb_ms: medianMs(facts.ttfbSamplesMs),
      ttfb_samples_ms: [...facts.ttfbSamplesMs],
      total_ms: facts.totalMs,
      observed_at: now.toISOString(),
      limitations: [...unknownsOf(facts), ...read.data.limitations],
    });
  });
}

/** Checks website health on the usual ports. */
export const health = healthOn({ http: 80, https: 443 });

async function gather(net: Net, page: PageSnapshot, now: Date, ports: WebPorts): Promise<HealthFacts> {
  const budget = Math.min(PART_MS, net.remainingMs() - RESERVE_MS);
  const part = <T>(what: string, work: Promise<T>): Promise<T | Unknown> =>
    waitAtMost<T | Unknown>(budget, work, unknown(`${what} took too long.`));
  const { origin, hostname } = new URL(page.finalUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const ownTtfb = Math.round(page.final.timing.ttfb / 1000);
  const [tls, http, robots, securityTxt, ipv6, ttfbSamplesMs] = await Promise.all([
    part("The TLS check", gatherTls(net, tlsTarget(page, host, ports))),
    part("The request over http://", askPlainHttp(net, page, ports.http)),
    part("The request for /robots.txt", fetchSiteFile(net, origin, "/robots.txt", ROBOTS_BYTES)),
    part("The request for security.txt", fetchSiteFile(net, origin, "/.well-known/security.txt", SECURITY_TXT_BYTES)),
    part("The connection over IPv6", gatherIpv6(net, host, page.final)),
    waitAtMost(budget, gatherTtfb(net, page), [ownTtfb]),
  ]);
  const preloaded = net.data.hstsPreload(new URL(page.url).hostname) !== null;
  return { ...pageFacts(page), now, preloaded, ttfbSamplesMs, tls, http, robots, securityTxt, ipv6 };
}

/** Returns the server of the page's TLS connection, or for a page over http the TLS port of its host. */
function tlsTarget({ final }: PageSnapshot, host: string, ports: WebPorts): TlsTarget {
  const seen = final.url.startsWith("https:");
  return { host, port: seen ? final.port : ports.https, ip: final.ip, seen };
}

function pageFacts({ url, final, hops, elapsedUs, body }: PageSnapshot) {
  return {
    url,
    httpVersion: final.httpVersion,
    redirects: hops.length - 1,
    totalMs: Math.round(elapsedUs / 1000),
    body: bodyFacts(body),
  };
}

/** Returns the facts of a body without its bytes. */
function bodyFacts({ transferredBytes, decodedBytes, encoding, error, truncated }: HttpBody): HealthFacts["body"] {
  return { transferredBytes, decodedBytes, encoding, error, truncated };
}

function unknownsOf({ tls, http, robots, securityTxt, ipv6 }: HealthFacts): string[] {
  const suites = tls.known && tls.offered ? [tls.suites] : [];
  const revocation = tls.known ? tls.revocationLimits : [];
  const reasons = [tls, ...suites, http, robots, securityTxt, ipv6].flatMap((facts) =>
    facts.known ? [] : [facts.why],
  );
  return [...reasons, ...revocation];
}

/** Reports whether one of the host's AAAA addresses accepts connections. */
async function gatherIpv6(net: Net, host: string, page: Hop): Promise<Ipv6Facts> {
  if (page.ipVersion === 6)
    return { known: true, address: page.ip, answers: true, why: "The page was served over IPv6." };
  if (literalFamily(host) !== null) return unknown("The host of the URL is an IPv4 address.");
  const resolved = await net.dns.resolve(host, 6);
  if (resolved.status === "refused") return unknown("Connections to the host's IPv6 address are not allowed.");
  if (resolved.status !== "ok") {
    const none = resolved.status === "failed" && (resolved.reason === "no_address" || resolved.reason === "nxdomain");
    if (none) return { known: true, address: null, answers: false, why: "The host has no AAAA record." };
    return unknown("The lookup of the host's AAAA record failed.");
  }
  const addresses = resolved.data.allowed.slice(0, MAX_ADDRESSES);
  for (const { ip } of addresses) {
    const { state, reason } = await net.tcp.probe(ip, page.port, CONNECT_MS);
    if (state === "open") return { known: true, address: ip, answers: true, why: "The site answers over IPv6." };
    if (OWN_REASONS.has(reason ?? "")) return unknown("This probe cannot reach IPv6 addresses.");
  }
  const address = addresses[0]?.ip ?? null;
  return { known: true, address, answers: false, why: "The host's IPv6 address does not answer." };
}

/** Returns times to first byte, in milliseconds: that of the page and up to two more, one after the other. */
async function gatherTtfb(net: Net, { final }: PageSnapshot): Promise<number[]> {
  const samples = [toMs(final)];
  for (let count = 0; count < SAMPLES && net.remainingMs() > SAMPLE_RESERVE_MS; count += 1) {
    const request = { url: final.url, method: "GET", follow: false, maxBodyBytes: 1 } as const;
    const fetched = await waitAtMost(Math.min(SAMPLE_MS, net.remainingMs()), net.http.fetch(request), null);
    // A rate limit (429) or an error page has another speed than the page.
    if (fetched?.status !== "ok" || fetched.data.final.code !== final.code) break;
    samples.push(toMs(fetched.data.final));
  }
  return samples;
}

function toMs(hop: Hop): number {
  return Math.round(hop.timing.ttfb / 1000);
}
