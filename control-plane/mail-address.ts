import { domainToASCII } from "node:url";

/** An address as RFC 5321 has it without quotes, and with a host name. Other forms are valid but not in use. */
const ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[^@]{1,253}$/;
const DOMAIN =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const LONGEST = 254;

/**
 * Returns the ASCII form of a mail address to which mail can be sent; null for other text. A domain with other letters
 * becomes its A-labels. The local part keeps its upper and lower case.
 */
export function toMailAddress(text: string): string | null {
  if (text.length > LONGEST || !ADDRESS.test(text)) return null;
  const at = text.indexOf("@");
  const local = text.slice(0, at);
  if (local.startsWith(".") || local.endsWith(".") || local.includes("..")) return null;
  const domain = domainToASCII(text.slice(at + 1));
  const address = `${local}@${domain}`;
  return DOMAIN.test(domain) && address.length <= LONGEST ? address : null;
}
