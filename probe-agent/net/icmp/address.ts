import ipaddr from "ipaddr.js";

/** Returns the 4 or 16 octets of a vetted IP literal. */
export function addressBytes(ip: string): Buffer {
  return Buffer.from(ipaddr.parse(ip).toByteArray());
}

/** Reports whether two literals name the same address in any notation. */
export function sameAddress(one: string, other: string): boolean {
  return one === other || addressBytes(one).equals(addressBytes(other));
}
