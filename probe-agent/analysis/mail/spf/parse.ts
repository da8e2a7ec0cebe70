import { isIPv4, isIPv6 } from "node:net";
import { parseDomainSpec, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { hintFor } from "#probe-agent/analysis/mail/spf/hints.ts";
import { parseMacros } from "#probe-agent/analysis/mail/spf/macro.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** Result of a match, from the prefix of the mechanism (RFC 7208 section 4.6.2). */
export type Qualifier = "pass" | "fail" | "softfail" | "neutral";

/** A mechanism with its parsed arguments. `text` is the term verbatim. */
export type Mechanism = { readonly qualifier: Qualifier; readonly text: string } & (
  | { readonly name: "all" }
  | { readonly name: "include" | "exists"; readonly domain: DomainSpec }
  | { readonly name: "ptr"; readonly domain: DomainSpec | null }
  | {
      readonly name: "a" | "mx";
      /** null for the domain that is being checked. */
      readonly domain: DomainSpec | null;
      readonly prefix4: number;
      readonly prefix6: number;
    }
  | { readonly name: "ip4" | "ip6"; readonly address: string; readonly prefix: number }
);

/** A record that follows the grammar. */
export interface SpfRecord {
  readonly mechanisms: readonly Mechanism[];
  readonly redirect: DomainSpec | null;
  readonly exp: DomainSpec | null;
  /** Undefined modifiers, verbatim. Receivers ignore them (section 6). */
  readonly unknown: readonly string[];
}

/** A parsed record, or one sentence for each of its faults. `error` is the first fault, where receivers stop. */
type ParsedSpf =
  | { readonly ok: true; readonly record: SpfRecord }
  | { readonly ok: false; readonly error: string; readonly faults: readonly string[] };

const QUALIFIERS: Readonly<Record<string, Qualifier>> = { "+": "pass", "-": "fail", "~": "softfail", "?": "neutral" };
const VERSION = /^v=spf1(?= |$)/i;
const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/is;
const DIRECTIVE = /^([-+?~]?)(all|include|a|mx|ptr|ip4|ip6|exists)((?:[:/].*)?)$/is;
// dual-cidr-length (section 5.6) has no leading zeros.
const DUAL_CIDR = /^(.*?)(?:\/(0|[1-9]\d?))?(?:\/\/(0|[1-9]\d{0,2}))?$/s;
const CIDR = /^(.*?)(?:\/(0|[1-9]\d{0,2}))?$/s;
const MAX_SHOWN = 80;
const MAX_FAULTS = 20;
/** Maximum number of characters of a term. A name with macros and a prefix length is far shorter. */
const MAX_TERM = 4096;

/** Reports whether a TXT text is an SPF record: v=spf1 in any case, then a space or the end (section 4.5). */
export function isSpfRecord(text: string): boolean {
  return VERSION.test(text);
}

/**
 * Parses a whole record. One fault anywhere makes the record invalid (section 4.6). `text` has one character for each
 * octet.
 */
export function parseSpf(text: string): ParsedSpf {
  const mechanisms: Mechanism[] = [];
  const modifiers = new Map<string, DomainSpec>();
  const unknown: string[] = [];
  const faults: string[] = [];
  const fault = (term: string, what: string): void => {
    if (faults.length < MAX_FAULTS) faults.push(`"${toPrintableAscii(term, MAX_SHOWN)}" ${what}`);
  };
  for (const term of text.slice("v=spf1".length).split(" ")) {
    if (term === "") continue;
    if (term.length > MAX_TERM) {
      fault(term, `is longer than ${MAX_TERM} characters`);
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
      if (parseMacros(value, "unknown-modifier") === null) fault(term, "has an invalid macro");
      else unknown.push(term);
      continue;
    }
    const domain = parseDomainSpec(value);
    if (domain === null) fault(term, "needs a valid domain");
    else if (modifiers.has(name)) fault(term, `is the second ${name}; only one is allowed`);
    else modifiers.set(name, domain);
  }
  const [error] = faults;
  if (error !== undefined) return { ok: false, error, faults };
  const [redirect, exp] = [modifiers.get("redirect") ?? null, modifiers.get("exp") ?? null];
  return { ok: true, record: { mechanisms, redirect, exp, unknown } };
}

/** Parses a mechanism. Returns a description of the fault if the term is invalid. */
function readDirective(text: string): Mechanism | string {
  const match = DIRECTIVE.exec(text);
  if (match === null) return "is not an SPF mechanism or modifier";
  const [, prefix = "", rawName = "", rest = ""] = match;
  const base = { qualifier: QUALIFIERS[prefix] ?? "pass", text };
  const name = rawName.toLowerCase() as Mechanism["name"];
  switch (name) {
    case "all":
      return rest === "" ? { ...base, name } : "must not have an argument";
    case "include":
    case "exists": {
      const domain = readDomain(rest);
      return domain === null ? "needs a valid domain and no other argument" : { ...base, name, domain };
    }
    case "ptr": {
      const domain = readDomain(rest);
      return rest !== "" && domain === null ? "has an invalid domain" : { ...base, name, domain };
    }
    case "a":
    case "mx": {
      const [, before = "", prefix4 = "32", prefix6 = "128"] = DUAL_CIDR.exec(rest) ?? [];
      const domain = readDomain(before);
      if (before !== "" && domain === null) return "has an invalid domain or prefix length";
      if (Number(prefix4) > 32 || Number(prefix6) > 128) return "has a prefix length that exceeds the address length";
      return { ...base, name, domain, prefix4: Number(prefix4), prefix6: Number(prefix6) };
    }
    case "ip4":
    case "ip6": {
      const bits = name === "ip4" ? 32 : 128;
      const [, address = "", prefixLength = String(bits)] = CIDR.exec(rest.slice(1)) ?? [];
      const known = name === "ip4" ? isIPv4(address) : isIPv6(address) && !address.includes("%");
      if (!rest.startsWith(":") || !known) return `needs an IPv${name.slice(2)} address or network`;
      if (Number(prefixLength) > bits) return "has a prefix length that exceeds the address length";
      return { ...base, name, address, prefix: Number(prefixLength) };
    }
  }
}

function readDomain(argument: string): DomainSpec | null {
  return argument.startsWith(":") ? parseDomainSpec(argument.slice(1)) : null;
}
