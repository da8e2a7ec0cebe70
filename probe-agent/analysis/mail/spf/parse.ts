import { isIPv4, isIPv6 } from "node:net";
import { parseDomainSpec, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { hintFor } from "#probe-agent/analysis/mail/spf/hints.ts";
import { parseMacros } from "#probe-agent/analysis/mail/spf/macro.ts";
import { shownText } from "#probe-agent/analysis/mail/tag-list.ts";

/** What a mechanism's prefix makes of a match (RFC 7208 section 4.6.2). */
export type Qualifier = "pass" | "fail" | "softfail" | "neutral";

/** A mechanism, its arguments read. */
export type Mechanism = { readonly qualifier: Qualifier; /** As written. */ readonly text: string } & (
  | { readonly name: "all" }
  | { readonly name: "include" | "exists"; readonly domain: DomainSpec }
  | { readonly name: "ptr"; readonly domain: DomainSpec | null }
  | {
      readonly name: "a" | "mx";
      /** Null: the domain that is checked. */
      readonly domain: DomainSpec | null;
      readonly prefix4: number;
      readonly prefix6: number;
    }
  | { readonly name: "ip4" | "ip6"; readonly address: string; readonly prefix: number }
);

/** A record that keeps to the grammar. */
export interface SpfRecord {
  readonly mechanisms: readonly Mechanism[];
  readonly redirect: DomainSpec | null;
  readonly exp: DomainSpec | null;
  /** Modifiers nobody has defined, as written; they count for nothing (section 6). */
  readonly unknown: readonly string[];
}

/** A record, or its faults, a sentence each; the first is what receivers stumble over. */
type ParsedSpf =
  | { readonly ok: true; readonly record: SpfRecord }
  | { readonly ok: false; readonly error: string; readonly faults: readonly string[] };

const QUALIFIERS: Readonly<Record<string, Qualifier>> = { "+": "pass", "-": "fail", "~": "softfail", "?": "neutral" };
const VERSION = /^v=spf1(?= |$)/i;
const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/is;
const DIRECTIVE = /^([-+?~]?)(all|include|a|mx|ptr|ip4|ip6|exists)((?:[:/].*)?)$/is;
// dual-cidr-length (section 5.6): no leading zeros.
const DUAL_CIDR = /^(.*?)(?:\/(0|[1-9]\d?))?(?:\/\/(0|[1-9]\d{0,2}))?$/s;
const CIDR = /^(.*?)(?:\/(0|[1-9]\d{0,2}))?$/s;
const MAX_SHOWN = 80;
const MAX_FAULTS = 20;
/** Of a term; a name, its macros and a prefix need far less. */
const MAX_TERM = 4096;

/** Whether a TXT text is an SPF record: the version in either case, then a space or the end (section 4.5). */
export function isSpfRecord(text: string): boolean {
  return VERSION.test(text);
}

/** Reads a whole record; a fault anywhere in it is its result (section 4.6). `text` has one character per octet. */
export function parseSpf(text: string): ParsedSpf {
  const mechanisms: Mechanism[] = [];
  const modifiers = new Map<string, DomainSpec>();
  const unknown: string[] = [];
  const faults: string[] = [];
  const fault = (term: string, what: string): void => {
    if (faults.length < MAX_FAULTS) faults.push(`"${shownText(term, MAX_SHOWN)}" ${what}`);
  };
  for (const term of text.slice("v=spf1".length).split(" ")) {
    if (term === "") continue;
    if (term.length > MAX_TERM) {
      fault(term, "is longer than any term can be");
      continue;
    }
    const modifier = MODIFIER.exec(term);
    if (modifier === null) {
      const mechanism = readDirective(term);
      if (typeof mechanism === "string") fault(term, `${mechanism}${hintFor(term)}`);
      else mechanisms.push(mechanism);
      continue;
    }
    const [, rawName = "", value = ""] = modifier;
    const name = rawName.toLowerCase();
    if (name !== "redirect" && name !== "exp") {
      if (parseMacros(value, "unknown-modifier") === null) fault(term, "has a macro that cannot be read");
      else unknown.push(term);
      continue;
    }
    const domain = parseDomainSpec(value);
    if (domain === null) fault(term, "needs a domain");
    else if (modifiers.has(name)) fault(term, `is the second ${name}; one is allowed`);
    else modifiers.set(name, domain);
  }
  const [error] = faults;
  if (error !== undefined) return { ok: false, error, faults };
  const [redirect, exp] = [modifiers.get("redirect") ?? null, modifiers.get("exp") ?? null];
  return { ok: true, record: { mechanisms, redirect, exp, unknown } };
}

/** The mechanism, or what is wrong with it. */
function readDirective(text: string): Mechanism | string {
  const match = DIRECTIVE.exec(text);
  if (match === null) return "is no mechanism or modifier of SPF";
  const [, prefix = "", rawName = "", rest = ""] = match;
  const base = { qualifier: QUALIFIERS[prefix] ?? "pass", text };
  const name = rawName.toLowerCase() as Mechanism["name"];
  switch (name) {
    case "all":
      return rest === "" ? { ...base, name } : "takes nothing after it";
    case "include":
    case "exists": {
      const domain = readDomain(rest);
      return domain === null ? "needs a domain and nothing else" : { ...base, name, domain };
    }
    case "ptr": {
      const domain = readDomain(rest);
      return rest !== "" && domain === null ? "has a domain that cannot be read" : { ...base, name, domain };
    }
    case "a":
    case "mx": {
      const [, before = "", prefix4 = "32", prefix6 = "128"] = DUAL_CIDR.exec(rest) ?? [];
      const domain = readDomain(before);
      if (before !== "" && domain === null) return "has a domain or prefix length that cannot be read";
      if (Number(prefix4) > 32 || Number(prefix6) > 128) return "has a prefix longer than an address";
      return { ...base, name, domain, prefix4: Number(prefix4), prefix6: Number(prefix6) };
    }
    case "ip4":
    case "ip6": {
      const bits = name === "ip4" ? 32 : 128;
      const [, address = "", prefixLength = String(bits)] = CIDR.exec(rest.slice(1)) ?? [];
      const known = name === "ip4" ? isIPv4(address) : isIPv6(address) && !address.includes("%");
      if (!rest.startsWith(":") || !known) return `needs an IPv${name.slice(2)} address or network`;
      if (Number(prefixLength) > bits) return "has a prefix longer than an address";
      return { ...base, name, address, prefix: Number(prefixLength) };
    }
  }
}

function readDomain(argument: string): DomainSpec | null {
  return argument.startsWith(":") ? parseDomainSpec(argument.slice(1)) : null;
}
