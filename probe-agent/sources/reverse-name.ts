import type { Net } from "#probe-agent/toolkit/net.ts";

/** The name of an address, and whether the name resolves to the address. */
interface ReverseName {
  /** PTR name. Null if there is none or the lookup failed. */
  readonly hostname: string | null;
  /** Whether there is a PTR name. Null if the lookup failed. */
  readonly exists: boolean | null;
  /** Forward-confirmed reverse DNS. Null without a name, or if the lookup of the name failed. */
  readonly fcrdns: boolean | null;
}

/** An ordinary address has one or two PTR names. Hostile ones have hundreds. */
const MAX_NAMES = 3;

/**
 * Looks up the PTR names of an address, and then the addresses of the first few names. Prefers a confirmed name (RFC
 * 8501 section 1).
 */
export async function lookUpReverseName(net: Net, ip: string): Promise<ReverseName> {
  const names = await net.dns.reverse(ip);
  if (names === null) return { hostname: null, exists: null, fcrdns: null };
  const verdicts = await Promise.all(
    names
      .slice(0, MAX_NAMES)
      .map(async (hostname) => ({ hostname, exists: true, fcrdns: await resolvesTo(net, hostname, ip) })),
  );
  const best = verdicts.find(({ fcrdns }) => fcrdns === true) ?? verdicts.find(({ fcrdns }) => fcrdns === null);
  return best ?? verdicts[0] ?? { hostname: null, exists: false, fcrdns: null };
}

/** Reports whether a name resolves to an address now. Null if the lookup failed. */
export async function resolvesTo(net: Net, hostname: string, ip: string): Promise<boolean | null> {
  const resolved = await net.dns.resolve(hostname, ip.includes(":") ? 6 : 4);
  switch (resolved.status) {
    case "ok":
      return [...resolved.data.allowed, ...resolved.data.blocked].some((address) => address.ip === ip);
    case "failed":
      return ["nxdomain", "no_address", "invalid_name"].includes(resolved.reason) ? false : null;
    // A name or addresses that the probe is not allowed to use. They cannot include this address, which it is allowed
    // to use.
    default:
      return false;
  }
}
