import { createAddressRule, createListRule, isPublic } from "#shared/egress/addresses.ts";
import { readHost, readUrlHost, type Host } from "#shared/egress/hosts.ts";
import { createNameRule, createSuffixRule } from "#shared/egress/names.ts";
import { isBlockedPort } from "#shared/egress/ports.ts";

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
}

/** Maximum length of an accepted URL in characters, longer than any header block that is read. */
const MAX_URL = 65_536;
// The URL parser drops tab, CR and LF and reads a backslash as a slash, so these are rejected before parsing.
const SMUGGLING = /[\p{Cc}\\]/u;
// Empty user information is rejected too. It is used to mislead or to log in.
const USER_INFO = /^ *https?:\/*[^/?#]*@/i;

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
