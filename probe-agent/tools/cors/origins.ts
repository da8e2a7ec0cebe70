import { literalFamily } from "#shared/egress/addresses.ts";
import { siteOf } from "#probe-agent/analysis/http/same-site.ts";

/** What an origin tests. */
export type OriginKind =
  | "given"
  | "foreign"
  | "null"
  | "prefix"
  | "suffix"
  | "unescaped_dot"
  | "subdomain"
  | "http_downgrade";

/** An origin to send in a request. */
interface ProbeOrigin {
  readonly kind: OriginKind;
  readonly origin: string;
}

/** An origin that belongs to no one: the example domain is reserved (RFC 2606). */
const FOREIGN_ORIGIN = "https://evil.example";

/**
 * Returns the origins to test a target with: the caller's, a foreign one, null, and those that a careless comparison
 * with the target's host allows. The caller's origin can equal one of the others; then it is listed as both.
 */
export function probeOrigins(target: URL, given: string): ProbeOrigin[] {
  const tried: ProbeOrigin[] = [
    { kind: "foreign", origin: FOREIGN_ORIGIN },
    { kind: "null", origin: "null" },
    ...lookAlikes(target.hostname.replace(/\.$/, "")),
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

/** Returns origins that start or end like the target's, match it if a dot matches any character, or are a subdomain. */
function lookAlikes(host: string): ProbeOrigin[] {
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
