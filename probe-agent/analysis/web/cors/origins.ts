import { literalFamily } from "#shared/egress/addresses.ts";
import { siteOf } from "#probe-agent/analysis/http/same-site.ts";

/** What an origin tries out. */
export type OriginKind =
  | "given"
  | "foreign"
  | "null"
  | "prefix"
  | "suffix"
  | "unescaped_dot"
  | "subdomain"
  | "http_downgrade";

/** An origin to ask with. */
interface ProbeOrigin {
  readonly kind: OriginKind;
  readonly origin: string;
}

/** Nobody's: the example domain is reserved (RFC 2606). */
const FOREIGN_ORIGIN = "https://evil.example";

/**
 * The origins a target is asked with: the caller's, one of a stranger, null, and those that a careless comparison with
 * the target's own host would let in. The caller's may be one of the others too: it counts as both.
 */
export function probeOrigins(target: URL, given: string): ProbeOrigin[] {
  const tried: ProbeOrigin[] = [
    { kind: "foreign", origin: FOREIGN_ORIGIN },
    { kind: "null", origin: "null" },
    ...nameTricks(target.hostname.replace(/\.$/, "")),
    ...(target.protocol === "https:" ? [{ kind: "http_downgrade" as const, origin: `http://${target.hostname}` }] : []),
  ];
  const seen = new Set<string>();
  const usable = tried.filter(({ origin }) => {
    const fresh = !seen.has(origin) && (origin === "null" || URL.canParse(origin));
    seen.add(origin);
    return fresh;
  });
  return [{ kind: "given", origin: given }, ...usable];
}

/** Names an attacker could register that begin or end as the target's, or match it where its dots are any character. */
function nameTricks(host: string): ProbeOrigin[] {
  if (literalFamily(host.replace(/^\[|\]$/g, "")) !== null) return [];
  const site = siteOf(host);
  // The last dot before the registrable domain: www.example.com -> wwwxexample.com.
  const at = host.endsWith(`.${site}`) ? host.length - site.length - 1 : -1;
  return [
    { kind: "prefix", origin: `https://${host}.evil.example` },
    { kind: "suffix", origin: `https://evil${site}` },
    ...(at > 0
      ? [{ kind: "unescaped_dot" as const, origin: `https://${host.slice(0, at)}x${host.slice(at + 1)}` }]
      : []),
    { kind: "subdomain", origin: `https://vantage-probe.${site}` },
  ];
}
