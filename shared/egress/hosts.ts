import { isIPv4 } from "node:net";
import { domainToASCII } from "node:url";
import { literalFamily } from "#shared/egress/addresses.ts";
import { isUsableName } from "#shared/egress/names.ts";

/** A host in normal form. */
export type Host =
  | { readonly kind: "literal"; readonly ip: string }
  /** Lower-case A-labels without final dot; the root is ".". */
  | { readonly kind: "name"; readonly name: string };

const MAX_RAW = 1024;
// Characters that the URL host parser decodes, strips or cuts at, and those that no host contains.
const UNUSABLE = /[\p{Cc}\s%/\\?#@]/u;

/**
 * Reads the host of a parsed http(s) URL: IPv6 in brackets, IPv4 in dotted decimal. Returns null if it is not a DNS
 * name.
 */
export function readUrlHost(hostname: string): Host | null {
  if (hostname.startsWith("[")) return { kind: "literal", ip: hostname.slice(1, -1) };
  if (isIPv4(hostname)) return { kind: "literal", ip: hostname };
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return isUsableName(name) ? { kind: "name", name } : null;
}

/**
 * Reads a host from user input: a name in either IDN form, or an address in any spelling of the URL standard. null for
 * URLs, ports, paths, zones and invalid names. The root and a leading "*" label are allowed for lookups only.
 */
export function readHost(raw: string, connects: boolean): Host | null {
  if (raw.length > MAX_RAW || UNUSABLE.test(raw)) return null;
  if (isIPv4(raw)) return { kind: "literal", ip: raw };
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
  // The URL standard serializes as RFC 5952 does, except for mapped addresses, which no rule allows.
  const { hostname } = new URL(`http://[${bare}]/`);
  return { kind: "literal", ip: hostname.slice(1, -1) };
}
