import { classifyAddress } from "#shared/internet/egress.ts";
import type { HeaderRows } from "#probe-agent/tools/email-header/rows.ts";
import { readReceived, type Received } from "#probe-agent/tools/email-header/received-field.ts";
import { printableOrNull } from "#probe-agent/analysis/text/printable.ts";

type Result = HeaderRows;
/** The result fields that depend on the Received fields. */
type Trace = Pick<
  Result,
  "hops" | "hop_count" | "total_delay_s" | "date_to_first_hop_s" | "slowest_hop" | "tls_pct" | "originating_ip"
>;
type Hop = Result["hops"][number];

/** Maximum number of Received fields that are read. Servers stop mail loops at 100 (RFC 5321 section 6.3). */
export const MAX_HOPS = 200;

/** Returns the location and network of an address; null if unknown. */
export type Locate = (ip: string) => Hop["ip_geo"];

/** Traces a message. `values` are newest first; `sentAt` is the time of the Date field in milliseconds. */
export function traceHops(values: readonly string[], sentAt: number | null, locate: Locate): Trace {
  const received = values.slice(0, MAX_HOPS).map(readReceived).toReversed();
  const times = received.map(({ date }) => date?.time ?? null);
  const hops = received.map((one, index): Hop => {
    const before = times.slice(0, index).findLast((time) => time !== null);
    const delay = secondsBetween(before ?? null, times[index] ?? null);
    return { ...hopRow(one), n: index + 1, delay_s: delay, ip_geo: placeOf(one, locate) };
  });
  const dated = times.filter((time) => time !== null);
  const [oldest = null] = dated;
  const slowest = hops.reduce<Hop | null>(
    (worst, hop) => ((hop.delay_s ?? 0) > (worst?.delay_s ?? 0) ? hop : worst),
    null,
  );
  const between = received.filter(isBetweenHosts);
  const secured = between.filter(({ tls }) => tls !== null).length;
  return {
    hops,
    hop_count: values.length,
    total_delay_s: dated.length < 2 ? null : secondsBetween(oldest, dated.at(-1) ?? null),
    date_to_first_hop_s: secondsBetween(sentAt, oldest),
    slowest_hop: slowest?.n ?? null,
    tls_pct: between.length === 0 ? null : Math.round((secured / between.length) * 1000) / 10,
    originating_ip: hops.find(({ ip_type: type }) => type === "public")?.ip ?? null,
  };
}

function placeOf({ ip }: Received, locate: Locate): Hop["ip_geo"] {
  return ip !== null && classifyAddress(ip) === "public" ? locate(ip) : null;
}

function hopRow(one: Received): Omit<Hop, "n" | "delay_s" | "ip_geo"> {
  const { ip, tls, date } = one;
  return {
    from: printableOrNull(one.from),
    rdns: printableOrNull(one.rdns),
    ip,
    ip_type: ip === null ? null : classifyAddress(ip) === "public" ? "public" : "private",
    by: printableOrNull(one.by),
    via: printableOrNull(one.via),
    with: printableOrNull(one.with),
    id: printableOrNull(one.id),
    for: printableOrNull(one.for),
    envelope_from: printableOrNull(one.envelopeFrom),
    authenticated: one.authenticated,
    tls,
    timestamp: isoOrNull(date?.time ?? null),
  };
}

/** Converts milliseconds to ISO 8601 UTC. Null for null and for times outside the range of dates. */
export function isoOrNull(time: number | null): string | null {
  return time === null || Math.abs(time) > 8.64e15 ? null : new Date(time).toISOString();
}

function secondsBetween(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : Math.round((to - from) / 1000);
}

/** Reports whether a hop is between two hosts, not a local pickup or a filter on the loopback address. */
function isBetweenHosts({ from, ip }: Received): boolean {
  const isLoopback = ip === null ? /^localhost\b/i.test(from ?? "") : ip.startsWith("127.") || ip === "::1";
  return (from !== null || ip !== null) && !isLoopback;
}
