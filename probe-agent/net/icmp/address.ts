import ipaddr from "ipaddr.js";

/** The 4 or 16 octets of a vetted IP literal. */
export function addressBytes(ip: string): Buffer {
  return Buffer.from(ipaddr.parse(ip).toByteArray());
}

/** Whether two literals name one address, however they are spelled. */
export function sameAddress(one: string, other: string): boolean {
  return one === other || addressBytes(one).equals(addressBytes(other));
}
