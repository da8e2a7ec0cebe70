import type { Net } from "#probe-agent/toolkit/net.ts";

/** The name of an address and whether it leads back. */
interface ReverseName {
  /** PTR name, null where there is none or nobody answered. */
  readonly hostname: string | null;
  /** Whether there is any; null where nobody answered. */
  readonly exists: boolean | null;
  /** Forward-confirmed reverse DNS; null without a name or when the look-up of the name failed. */
  readonly fcrdns: boolean | null;
}

/** A sane address has one or two PTR names; hostile ones have hundreds. */
const MAX_NAMES = 3;

/** Asks for the PTR names and looks the first few up again; a confirmed one is preferred (RFC 8501 section 1). */
export async function reverseName(net: Net, ip: string): Promise<ReverseName> {
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

/** Whether a name resolves to an address now; null where the look-up failed. */
export async function resolvesTo(net: Net, hostname: string, ip: string): Promise<boolean | null> {
  const resolved = await net.dns.resolve(hostname, ip.includes(":") ? 6 : 4);
  switch (resolved.status) {
    case "ok":
      return [...resolved.data.allowed, ...resolved.data.blocked].some((address) => address.ip === ip);
    case "failed":
      return ["nxdomain", "no_address", "invalid_name"].includes(resolved.reason) ? false : null;
    // A name or addresses we may not use: whatever they are, they are not this address, which we may.
    default:
      return false;
  }
}
