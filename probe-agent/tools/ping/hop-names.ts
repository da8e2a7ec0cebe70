import { waitAtMost } from "#shared/time/time-limit.ts";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TraceHop } from "#probe-agent/port/packets.ts";
import { askCymru } from "#probe-agent/sources/cymru.ts";

/** Name and network of an address of the path. A field is null if it is not known. */
interface HopName {
  readonly hostname: string | null;
  readonly asn: number | null;
  readonly asName: string | null;
  readonly country: string | null;
}

/** Names by address. */
export type HopNames = ReadonlyMap<string, HopName>;

/** Names before any source was asked. */
export const NOTHING_KNOWN: HopNames = new Map();

const MOST_ADDRESSES = 64;
/** Types of addresses that are not announced in global routing. Outside services should not learn about them. */
const INSIDE: ReadonlySet<string> = new Set(["private", "cgnat", "loopback", "link_local", "multicast"]);

/**
 * Looks up the names and networks of all addresses of a path at the same time, within `patienceMs`. Data in the
 * operator's databases is not looked up elsewhere.
 */
export async function nameHops(
  net: Net,
  hops: readonly TraceHop[],
  patienceMs: number,
): Promise<{ readonly names: HopNames; readonly limitations: readonly string[] }> {
  const addresses = [...new Set(hops.flatMap(({ replies }) => replies.flatMap(({ ip }) => ip ?? [])))];
  let unanswered = 0;
  const named = await Promise.all(
    addresses.slice(0, MOST_ADDRESSES).map(async (ip): Promise<[string, HopName]> => {
      const outside = !INSIDE.has(addressType(ip));
      const owner = outside ? (net.data.asn(ip)?.owner ?? null) : null;
      const country = outside ? (net.data.geo(ip)?.place?.country?.code ?? null) : null;
      const isKnown = owner?.asn != null && country !== null;
      const [hostnames, cymru] = await Promise.all([
        waitAtMost(patienceMs, net.dns.reverse(ip), null),
        outside && !isKnown ? waitAtMost(patienceMs, askCymru(net, ip), null) : undefined,
      ]);
      if ((cymru === null || cymru?.answered === false) && owner?.asn == null) unanswered += 1;
      return [
        ip,
        {
          hostname: hostnames?.[0] ?? null,
          asn: cymru?.origin?.asns[0] ?? owner?.asn ?? null,
          asName: cymru?.system?.name ?? owner?.as_name ?? null,
          country: country ?? cymru?.origin?.country ?? cymru?.system?.country ?? null,
        },
      ];
    }),
  );
  const limitations =
    unanswered === 0 ? [] : [`Team Cymru's zones did not answer for ${unanswered} of ${addresses.length} addresses.`];
  return { names: new Map(named), limitations };
}
