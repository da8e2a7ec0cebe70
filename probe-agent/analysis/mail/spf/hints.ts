import { isIP } from "node:net";
import { shownText } from "#probe-agent/analysis/mail/tag-list.ts";

const MECHANISM = /^[-+?~]?(?:all|include|a|mx|ptr|ip4|ip6|exists)$/i;

/** What the writer of a term that cannot be read most probably meant; "" where nothing comes to mind. */
export function hintFor(term: string): string {
  const bare = term.replace(/^[-+?~]/, "");
  const [before = "", after] = bare.split(":", 2);
  if (/\s/.test(term)) return ": blanks alone may stand between terms, no tabs or line ends";
  if (/[\u0080-\u00ff]/.test(term)) return ": a character that is no ASCII, such as a dash in place of the hyphen";
  if (/^(?:ip|ipv4|ipv6)$/i.test(before)) return ": ip4: or ip6: is meant";
  if (/^(?:include|exists|ip4|ip6|a|mx)$/i.test(before) && after === "") return ": a blank stands behind the colon";
  if (/^(?:a|mx|all|include|ptr|exists|ip4|ip6)[,;]|[,;]$/i.test(bare))
    return ": terms have blanks between, nothing else";
  if (isIP(bare.replace(/\/\d+$/, "")) !== 0) return `: ip${bare.includes(":") ? 6 : 4}: is missing before it`;
  if (/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/i.test(bare)) return ": include: or a: is missing before it";
  return "";
}

/** The same for a modifier that nobody has defined. */
export function modifierHint(term: string): string {
  return MECHANISM.test(term.slice(0, term.indexOf("="))) ? ": a colon is meant in the place of =" : "";
}

/** Whether a TXT text that is no SPF record was meant as one. */
export function isNearSpf(text: string): boolean {
  return /^[\s"'\\]*(?:v\s*[=:]\s*)?spf\s*\d/i.test(text);
}

/** Returns the continuation of a sentence about a domain without a record that has the text `near` instead. */
export function nearRecordHint(near: string | undefined): string {
  return near === undefined ? "" : `; the text "${shownText(near, 60)}" must begin with v=spf1 and a blank to be one`;
}
