import { domainToASCII } from "node:url";

/** An address as RFC 5321 has it without quotes, and with a host name. Other forms are valid but not in use. */
const ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[^@]{1,253}$/;
const DOMAIN =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const LONGEST = 254;

/**
 * Returns the ASCII form of a mail address to which mail can be sent, as it was typed; null for other text. A domain with
 * other letters becomes its A-labels. It is for mail and for people: a mail server can distinguish upper and lower case of
 * the local part. Nothing is found or counted by it. Space around it is dropped.
 */
export function spellMailAddress(given: string): string | null {
  if (given.length > LONGEST) return null;
  const text = given.trim();
  if (!ADDRESS.test(text)) return null;
  const at = text.indexOf("@");
  const local = text.slice(0, at);
  if (local.startsWith(".") || local.endsWith(".") || local.includes("..")) return null;
  const typed = text.slice(at + 1);
  const domain = domainToASCII(typed);
  const address = `${local}@${toAsciiLower(typed) === domain ? typed : domain}`;
  return DOMAIN.test(domain) && address.length <= LONGEST ? address : null;
}

/** Returns the normal form of a mail address: its ASCII form in lower case; null for text that is none. */
export function toMailAddress(text: string): string | null {
  const spelled = spellMailAddress(text);
  return spelled === null ? null : toAsciiLower(spelled);
}

/**
 * Returns what an address is found, compared and counted by, as the columns `mail_address` have it: the normal form. A text
 * that has none is itself but for ASCII letters, so that two texts are never counted apart and found as one.
 */
export function addressKey(text: string): string {
  return toMailAddress(text) ?? toAsciiLower(text.slice(0, LONGEST + 1));
}

/** Reports whether two addresses, of which the first can be absent, are one in different spellings. */
export function isSameAddress(one: string | null, other: string): boolean {
  return one !== null && addressKey(one) === addressKey(other);
}

/** Unlike toLowerCase() it leaves other letters alone: that of U+0130 is not the one of PostgreSQL's lower(). */
function toAsciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
