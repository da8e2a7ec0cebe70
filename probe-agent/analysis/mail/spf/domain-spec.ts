import { parseMacros, type MacroPart } from "#probe-agent/analysis/mail/spf/macro.ts";

/** A domain-spec as written and read. */
export interface DomainSpec {
  readonly text: string;
  readonly parts: readonly MacroPart[];
}

/** Presentation characters of a name (RFC 1035 section 2.3.4, without the root's dot). */
const MAX_NAME = 253;
const MAX_LABEL = 63;
// RFC 7208 section 7.1: letters, digits and hyphens, not only digits, no hyphen at either end; a final dot may follow.
const TOP_LABEL = /\.(?!\d+\.?$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?$/i;

/** Reads a domain-spec: a macro-string that ends in an expansion or in a dot and a top label; null for anything else. */
export function parseDomainSpec(text: string): DomainSpec | null {
  const parts = parseMacros(text, "name");
  const last = parts?.at(-1);
  if (parts === null || last === undefined) return null;
  return last.kind === "macro" || last.expanded || TOP_LABEL.test(last.text) ? { text, parts } : null;
}

/** Cut from the left, label by label, to 253 characters; a final dot is dropped (section 7.3). */
export function fitName(expanded: string): string {
  const name = expanded.replace(/\.$/, "");
  if (name.length <= MAX_NAME) return name;
  const dot = name.indexOf(".", name.length - MAX_NAME - 1);
  return dot < 0 ? "" : name.slice(dot + 1);
}

/** Whether DNS can hold the name: no label empty or longer than 63, 253 in all. */
export function isName(name: string): boolean {
  if (name.length === 0 || name.length > MAX_NAME) return false;
  return name.split(".").every((label) => label.length > 0 && label.length <= MAX_LABEL);
}

/** Whether check_host() looks at this domain at all (section 4.3): a name of several labels, no address literal. */
export function isMailDomain(name: string): boolean {
  return isName(name) && name.includes(".") && !/^\[.*\]$/.test(name);
}
