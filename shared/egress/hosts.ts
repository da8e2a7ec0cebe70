import { isIPv4 } from "node:net";
import { domainToASCII } from "node:url";
import { literalFamily } from "#shared/egress/addresses.ts";
import { isUsableName } from "#shared/egress/names.ts";

/** A host in its one normal form. */
export type Host =
  | { readonly kind: "literal"; readonly ip: string }
  /** Lower-case A-labels without final dot; the root is ".". */
  | { readonly kind: "name"; readonly name: string };

const MAX_RAW = 1024;
// What the URL host parser would decode, strip or cut at, together with what no host holds.
const UNUSABLE = /[\p{Cc}\s%/\\?#@]/u;

/** The host part of a parsed http(s) URL: IPv6 in brackets, IPv4 already dotted decimal. Null where no DNS name. */
export function readUrlHost(hostname: string): Host | null {
  if (hostname.startsWith("[")) return { kind: "literal", ip: hostname.slice(1, -1) };
  if (isIPv4(hostname)) return { kind: "literal", ip: hostname };
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return isUsableName(name) ? { kind: "name", name } : null;
}

/**
 * A host as a person writes it: a name in either IDN form, or an address in any spelling the URL standard knows.
 * Null for URLs, ports, paths, zones and what is no name. The root and a leading "*" label are for look-ups only.
 */
export function readHost(raw: string, connects: boolean): Host | null {
  if (raw.length > MAX_RAW || UNUSABLE.test(raw)) return null;
  if (raw.includes(":") || raw.startsWith("[")) return readIpv6(raw);
  const ascii = domainToASCII(raw);
  if (!connects) {
    if (ascii === ".") return { kind: "name", name: "." };
    if (ascii.startsWith("*.")) {
      const below = readUrlHost(ascii.slice(2));
      return below?.kind === "name" ? { kind: "name", name: `*.${below.name}` } : null;
    }
  }
  return readUrlHost(ascii);
}

function readIpv6(raw: string): Host | null {
  const bare = raw.startsWith("[") && raw.endsWith("]") ? raw.slice(1, -1) : raw;
  if (literalFamily(bare) !== "ipv6") return null;
  // The URL standard's serializer is RFC 5952's form, but for mapped addresses, which no rule lets through.
  const { hostname } = new URL(`http://[${bare}]/`);
  return { kind: "literal", ip: hostname.slice(1, -1) };
}
