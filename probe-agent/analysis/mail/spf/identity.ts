import { domainToASCII } from "node:url";
import { ipText, readIp, type IpNumber } from "#probe-agent/analysis/network/ip-numbers.ts";

/** Who sends (RFC 7208 sections 2.3, 2.4, 4.1). */
export interface Sender {
  readonly local: string;
  /** A-labels without final dot. */
  readonly domain: string;
}

/** The client's address, IPv4 where it is IPv4 mapped into IPv6 (section 5). */
export interface Client {
  readonly ip: IpNumber;
  /** Dotted quad or RFC 5952. */
  readonly text: string;
}

const MAPPED = 0xffffn;

/** The MAIL FROM identity, or that of HELO where MAIL FROM is empty; no local part stands for postmaster. */
export function senderOf(mailFrom: string, helo: string): Sender {
  const address = mailFrom.trim().replace(/^<(.*)>$/s, "$1");
  const at = address.lastIndexOf("@");
  const local = at < 0 ? "" : address.slice(0, at);
  const domain = address === "" ? helo : address.slice(at + 1);
  return { local: local === "" ? "postmaster" : local, domain: toAscii(domain.replace(/\.$/, "")) };
}

/** Section 4.3: international names as A-labels; what cannot be one stays as it is and is no domain. */
function toAscii(domain: string): string {
  if (/^[\x20-\x7e]*$/.test(domain)) return domain;
  return domainToASCII(domain) || domain;
}

/** Null for what is no address. */
export function clientOf(text: string): Client | null {
  const read = readIp(text);
  if (read === null) return null;
  const mapped = read.version === 6 && read.value >> 32n === MAPPED;
  const ip: IpNumber = mapped ? { version: 4, value: read.value & 0xffff_ffffn } : read;
  return { ip, text: ipText(ip) };
}

/**
 * The i macro (section 7.3): a dotted quad, or nibbles with dots between. Upper case, as the conformance suite that was
 * made with the RFC prints it; as part of a name the case does not matter.
 */
export function dottedAddress({ ip, text }: Client): string {
  if (ip.version === 4) return text;
  return Array.from(ip.value.toString(16).padStart(32, "0").toUpperCase()).join(".");
}

/** The name that holds the address's PTR records. */
export function reverseNameOf(client: Client): string {
  const reversed = dottedAddress(client).toLowerCase().split(".").toReversed().join(".");
  return `${reversed}.${client.ip.version === 4 ? "in-addr" : "ip6"}.arpa`;
}
