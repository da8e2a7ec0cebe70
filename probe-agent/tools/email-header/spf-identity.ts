import { domainToASCII } from "node:url";
import { ipText, readIp, type IpNumber } from "#probe-agent/analysis/network/ip-numbers.ts";

/** Identity of the sender (RFC 7208 sections 2.3, 2.4, 4.1). */
export interface Sender {
  readonly local: string;
  /** Domain in A-labels, without a final dot. */
  readonly domain: string;
}

/** Address of the SMTP client. An IPv4-mapped IPv6 address is converted to IPv4 (section 5). */
export interface Client {
  readonly ip: IpNumber;
  /** The address as a dotted quad (IPv4) or in the form of RFC 5952 (IPv6). */
  readonly text: string;
}

/** Upper 96 bits of an IPv4-mapped IPv6 address. */
const MAPPED = 0xffffn;

/** Returns the MAIL FROM identity, or the HELO identity if MAIL FROM is empty. The default local part is postmaster. */
export function parseSender(mailFrom: string, helo: string): Sender {
  const address = mailFrom.trim().replace(/^<(.*)>$/s, "$1");
  const at = address.lastIndexOf("@");
  const local = at < 0 ? "" : address.slice(0, at);
  const domain = address === "" ? helo : address.slice(at + 1);
  return { local: local === "" ? "postmaster" : local, domain: toAscii(domain.replace(/\.$/, "")) };
}

/** Converts an internationalized name to A-labels (section 4.3). Returns a name that has no A-labels unchanged. */
function toAscii(domain: string): string {
  if (/^[\x20-\x7e]*$/.test(domain)) return domain;
  return domainToASCII(domain) || domain;
}

/** Parses the address of a client. Returns null if the text is not an IP address. */
export function parseClient(text: string): Client | null {
  const read = readIp(text);
  if (read === null) return null;
  const mapped = read.version === 6 && read.value >> 32n === MAPPED;
  const ip: IpNumber = mapped ? { version: 4, value: read.value & 0xffff_ffffn } : read;
  return { ip, text: ipText(ip) };
}

/**
 * Returns the value of the i macro (section 7.3): a dotted quad for IPv4, hexadecimal digits separated by dots for
 * IPv6. The digits are in upper case, as in the conformance suite that was made with the RFC. In a DNS name the case
 * does not matter.
 */
export function dottedAddress({ ip, text }: Client): string {
  if (ip.version === 4) return text;
  return Array.from(ip.value.toString(16).padStart(32, "0").toUpperCase()).join(".");
}

/** Returns the DNS name of the address's PTR records. */
export function reverseNameOf(client: Client): string {
  const reversed = dottedAddress(client).toLowerCase().split(".").toReversed().join(".");
  return `${reversed}.${client.ip.version === 4 ? "in-addr" : "ip6"}.arpa`;
}
