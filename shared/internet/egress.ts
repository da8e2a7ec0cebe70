import { createAddressRule, createListRule, isPublic, literalFamily } from "#shared/egress/addresses.ts";
import { createNameRule, createSuffixRule, isUsableName } from "#shared/egress/names.ts";
import { isBlockedPort } from "#shared/egress/ports.ts";
import { isIPv4 } from "node:net";
import { domainToASCII } from "node:url";

/** Targets beyond the public internet that an operator allows (VANTAGE_ALLOW_TARGETS, VANTAGE_ALLOW_NAMES). */
export interface AllowLists {
  /** CIDR ranges, IPv4 or IPv6; a bare address is a range of one. */
  readonly targets: readonly string[];
  /** Name suffixes. */
  readonly names: readonly string[];
}

/** Allows nothing beyond the public internet. */
export const NO_ALLOW_LISTS: AllowLists = { targets: [], names: [] };

/** Targets whose owners opted out of checks; no allow list overrides this. */
export interface Denials {
  /** `ip` is a plain literal. */
  readonly deniesAddress: (ip: string) => boolean;
  /** `name` is of lower-case A-labels without final dot. */
  readonly deniesName: (name: string) => boolean;
}

/** Result of checking the text of a URL. The addresses of a name are checked after the lookup. */
export type UrlCheck =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly code: "invalid_url" | "target_not_allowed" };

/**
 * Result of checking a host. `host` is a lower-case A-label name without final dot ("." for the root) or an address
 * literal.
 */
export type HostCheck =
  | { readonly ok: true; readonly host: string; readonly literal: boolean }
  | { readonly ok: false; readonly code: "invalid_host" | "target_not_allowed" };

/** Rules that decide which targets can be contacted. Pure functions that never throw. */
export interface Egress {
  /**
   * Reports whether an address from a lookup or of a connected peer is allowed; false for anything but a plain IP
   * literal.
   */
  allowsAddress(ip: string): boolean;
  /** Checks a target URL, a redirect's absolute Location or a webhook's URL. */
  checkUrl(raw: string): UrlCheck;
  /**
   * Checks a host. If `connects` is false, the host is only looked up: it can be a public suffix, the root or start
   * with "*", and must not be a literal.
   */
  checkHost(raw: string, options: { readonly connects: boolean }): HostCheck;
  /** Reports whether the operator's allow lists contain this host (`HostCheck.host`), on the public internet or not. */
  lists(host: string): boolean;
  /** Whether the operator's allow lists have ranges of addresses. */
  readonly hasRanges: boolean;
}

/** Maximum length of an accepted URL in characters, longer than any header block that is read. */
const MAX_URL = 65_536;
// The URL parser drops tab, CR and LF and reads a backslash as a slash, so these are rejected before parsing.
const SMUGGLING = /[\p{Cc}\\]/u;
// Empty user information is rejected too. It is used to mislead or to log in.
const USER_INFO = /^ *https?:\/*[^/?#]*@/i;

/** A host in normal form. */
type Host =
  | { readonly kind: "literal"; readonly ip: string }
  /** Lower-case A-labels without final dot; the root is ".". */
  | { readonly kind: "name"; readonly name: string };

const MAX_RAW = 1024;
// Characters that the URL host parser decodes, strips or cuts at, and those that no host contains.
const UNUSABLE = /[\p{Cc}\s%/\\?#@]/u;

/**
 * Creates the egress rules with allowed ranges and names, and with denials, which take precedence. Throws a RangeError
 * on an invalid range or suffix.
 */
export function createEgress(lists: AllowLists, denials?: Denials): Egress {
  const opensAddress = createAddressRule(lists.targets);
  const opensName = createNameRule(lists.names);
  const listsAddress = createListRule(lists.targets);
  const listsName = createSuffixRule(lists.names);
  const allowsAddress = (ip: string): boolean => opensAddress(ip) && denials?.deniesAddress(ip) !== true;
  const allowsName = (name: string, connects: boolean): boolean =>
    opensName(name, connects) && denials?.deniesName(name) !== true;
  const allowsHost = (host: Host, connects: boolean): boolean =>
    host.kind === "literal" ? allowsAddress(host.ip) : allowsName(host.name, connects);
  return {
    allowsAddress,
    checkUrl(raw) {
      const url = readUrl(raw);
      const host = url === null ? null : readUrlHost(url.hostname);
      if (url === null || host === null) return { ok: false, code: "invalid_url" };
      const allowed = allowsHost(host, true) && !isBlockedPort(url.port);
      return allowed ? { ok: true, url } : { ok: false, code: "target_not_allowed" };
    },
    checkHost(raw, { connects }) {
      const host = typeof raw === "string" ? readHost(raw, connects) : null;
      if (host === null || (host.kind === "literal" && !connects)) return { ok: false, code: "invalid_host" };
      if (!allowsHost(host, connects)) return { ok: false, code: "target_not_allowed" };
      return host.kind === "literal"
        ? { ok: true, host: host.ip, literal: true }
        : { ok: true, host: host.name, literal: false };
    },
    lists: (host) => listsAddress(host) || listsName(host),
    hasRanges: lists.targets.length > 0,
  };
}

/** Parses an http(s) URL without user information; null for anything else. */
function readUrl(raw: unknown): URL | null {
  if (typeof raw !== "string" || raw.length > MAX_URL || SMUGGLING.test(raw) || USER_INFO.test(raw)) return null;
  const url = URL.parse(raw);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  return url.username === "" && url.password === "" ? url : null;
}

const publicOnly = createEgress(NO_ALLOW_LISTS);

/** Classifies an address; "refused" for anything but a plain IPv4 or IPv6 literal on the public internet. */
export function classifyAddress(ip: string): "public" | "refused" {
  return typeof ip === "string" && isPublic(ip) ? "public" : "refused";
}

/** Checks a target URL with empty allow lists. */
export function checkTargetUrl(raw: string): UrlCheck {
  return publicOnly.checkUrl(raw);
}

/**
 * Reads the host of a parsed http(s) URL: IPv6 in brackets, IPv4 in dotted decimal. Returns null if it is not a DNS
 * name.
 */
function readUrlHost(hostname: string): Host | null {
  if (hostname.startsWith("[")) return { kind: "literal", ip: hostname.slice(1, -1) };
  if (isIPv4(hostname)) return { kind: "literal", ip: hostname };
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return isUsableName(name) ? { kind: "name", name } : null;
}

/**
 * Reads a host from user input: a name in either IDN form, or an address in any spelling of the URL standard. null for
 * URLs, ports, paths, zones and invalid names. The root and a leading "*" label are allowed for lookups only.
 */
function readHost(raw: string, connects: boolean): Host | null {
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
