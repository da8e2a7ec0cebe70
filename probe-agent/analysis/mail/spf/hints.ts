import { isIP } from "node:net";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

const MECHANISM = /^[-+?~]?(?:all|include|a|mx|ptr|ip4|ip6|exists)$/i;

/**
 * Returns the most likely correction of an invalid term, as the continuation of a sentence about the term. Returns ""
 * if no known mistake matches.
 */
export function hintFor(term: string): string {
  const bare = term.replace(/^[-+?~]/, "");
  const [before = "", after] = bare.split(":", 2);
  if (/\s/.test(term)) return ": separate terms with spaces only, not with tabs or line breaks";
  if (/[\u0080-\u00ff]/.test(term)) return ": it has a non-ASCII character, such as a dash instead of a hyphen";
  if (/^(?:ip|ipv4|ipv6)$/i.test(before)) return ": write ip4: or ip6:";
  if (/^(?:include|exists|ip4|ip6|a|mx)$/i.test(before) && after === "") return ": remove the space after the colon";
  if (/^(?:a|mx|all|include|ptr|exists|ip4|ip6)[,;]|[,;]$/i.test(bare)) return ": separate terms with spaces only";
  if (isIP(bare.replace(/\/\d+$/, "")) !== 0) return `: write ip${bare.includes(":") ? 6 : 4}: before the address`;
  if (/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/i.test(bare)) return ": write include: or a: before the name";
  return "";
}

/** Returns the correction of an undefined modifier that looks like a mechanism; "" for other modifiers. */
export function modifierHint(term: string): string {
  return MECHANISM.test(term.slice(0, term.indexOf("="))) ? ": write a colon instead of =" : "";
}

/** Reports whether a TXT text that is not an SPF record was probably meant as one. */
export function isNearSpf(text: string): boolean {
  return /^[\s"'\\]*(?:v\s*[=:]\s*)?spf\s*\d/i.test(text);
}

/**
 * Returns the continuation of a sentence about a domain without an SPF record that has the text `near` instead. Returns
 * "" if `near` is undefined.
 */
export function nearRecordHint(near: string | undefined): string {
  if (near === undefined) return "";
  return `; receivers ignore "${toPrintableAscii(near, 60)}" because it does not begin with v=spf1 and a space`;
}
