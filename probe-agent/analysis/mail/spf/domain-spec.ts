import { parseMacros, type MacroPart } from "#probe-agent/analysis/mail/spf/macro.ts";

/** A parsed domain-spec (RFC 7208 section 7.1) with its source text. */
export interface DomainSpec {
  readonly text: string;
  readonly parts: readonly MacroPart[];
}

/** Maximum number of characters of a name in text form (RFC 1035 section 2.3.4), without the final dot. */
const MAX_NAME = 253;
const MAX_LABEL = 63;
// RFC 7208 section 7.1: letters, digits and hyphens; not only digits; no hyphen at either end. A final dot can follow.
const TOP_LABEL = /\.(?!\d+\.?$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?$/i;

/**
 * Parses a domain-spec: a macro-string that ends in an expansion or in a dot and a top label. Returns null for any
 * other text.
 */
export function parseDomainSpec(text: string): DomainSpec | null {
  const parts = parseMacros(text, "name");
  const last = parts?.at(-1);
  if (parts === null || last === undefined) return null;
  return last.kind === "macro" || last.expanded || TOP_LABEL.test(last.text) ? { text, parts } : null;
}

/** Removes labels from the left until the name has 253 characters or fewer. Removes a final dot (section 7.3). */
export function truncateName(expanded: string): string {
  const name = expanded.replace(/\.$/, "");
  if (name.length <= MAX_NAME) return name;
  const dot = name.indexOf(".", name.length - MAX_NAME - 1);
  return dot < 0 ? "" : name.slice(dot + 1);
}

/** Reports whether DNS can hold the name: labels of 1 to 63 characters, 253 characters in total. */
export function isName(name: string): boolean {
  if (name.length === 0 || name.length > MAX_NAME) return false;
  return name.split(".").every((label) => label.length > 0 && label.length <= MAX_LABEL);
}

/** Reports whether check_host() evaluates this domain (section 4.3): two or more labels, not an address literal. */
export function isMailDomain(name: string): boolean {
  return isName(name) && name.includes(".") && !/^\[.*\]$/.test(name);
}
