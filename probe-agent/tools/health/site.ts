import { literalFamily } from "#shared/egress/addresses.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import type { Ipv6Facts } from "#probe-agent/analysis/site/health/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Hop, PageSnapshot } from "#probe-agent/port/http.ts";

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

/** Reports whether one of the host's AAAA addresses accepts connections. */
export async function gatherIpv6(net: Net, host: string, page: Hop): Promise<Ipv6Facts> {
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
export async function gatherTtfb(net: Net, { final }: PageSnapshot): Promise<number[]> {
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
