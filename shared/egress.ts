import { createAddressRule, createListRule, isPublic } from "#shared/egress/addresses.ts";
import { readHost, readUrlHost, type Host } from "#shared/egress/hosts.ts";
import { createNameRule, createSuffixRule } from "#shared/egress/names.ts";
import { isBlockedPort } from "#shared/egress/ports.ts";

/** What an operator opens beyond the public internet (VANTAGE_ALLOW_TARGETS, VANTAGE_ALLOW_NAMES). */
export interface AllowLists {
  /** CIDR ranges, IPv4 or IPv6; a bare address is a range of one. */
  readonly targets: readonly string[];
  /** Name suffixes. */
  readonly names: readonly string[];
}

/** The public internet and nothing else. */
export const NO_ALLOW_LISTS: AllowLists = { targets: [], names: [] };

/** Whose owners want no checks (the opt-out list): no allow list overrides it. */
export interface Denials {
  /** `ip` is a plain literal. */
  readonly deniesAddress: (ip: string) => boolean;
  /** `name` is of lower-case A-labels without final dot. */
  readonly deniesName: (name: string) => boolean;
}

/** A URL that may be requested, as far as its text can tell; the addresses of a name are decided once looked up. */
export type UrlCheck =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly code: "invalid_url" | "target_not_allowed" };

/** A host that may be used; `host` is a lower-case A-label name without final dot ("." for the root) or a literal. */
export type HostCheck =
  | { readonly ok: true; readonly host: string; readonly literal: boolean }
  | { readonly ok: false; readonly code: "invalid_host" | "target_not_allowed" };

/** What may be reached. Pure, never throws, whatever the input. */
export interface Egress {
  /** For each address looked up and each peer connected to; false for anything but a plain IP literal. */
  allowsAddress(ip: string): boolean;
  /** For a target URL, a redirect's absolute Location, a webhook's URL. */
  checkUrl(raw: string): UrlCheck;
  /** `connects` false: the name is only looked up, may be a public suffix, the root or start with "*", and is no literal. */
  checkHost(raw: string, options: { readonly connects: boolean }): HostCheck;
  /** Whether the operator's own lists hold this host (as HostCheck has it), on the public internet or not. */
  lists(host: string): boolean;
}

/** Longest URL looked at, characters; longer than any header block we read. */
const MAX_URL = 65_536;
// The URL parser drops tab, CR and LF and reads a backslash as a slash: decided before it sees them.
const SMUGGLING = /[\p{Cc}\\]/u;
// An empty one too: whoever writes user info means to mislead or to log in.
const USER_INFO = /^ *https?:\/*[^/?#]*@/i;

/**
 * The rules with some ranges and names opened, and some closed whatever is opened; throws a RangeError on a range or
 * suffix that is none.
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

/** An http(s) URL without user info, or null. */
function readUrl(raw: unknown): URL | null {
  if (typeof raw !== "string" || raw.length > MAX_URL || SMUGGLING.test(raw) || USER_INFO.test(raw)) return null;
  const url = URL.parse(raw);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  return url.username === "" && url.password === "" ? url : null;
}

const publicOnly = createEgress(NO_ALLOW_LISTS);

/** Whether an address is on the public internet; "refused" for anything but a plain IPv4 or IPv6 literal. */
export function classifyAddress(ip: string): "public" | "refused" {
  return typeof ip === "string" && isPublic(ip) ? "public" : "refused";
}

/** The rule for a target URL with empty allow lists. */
export function checkTargetUrl(raw: string): UrlCheck {
  return publicOnly.checkUrl(raw);
}
