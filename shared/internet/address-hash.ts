import ipaddr from "ipaddr.js";

/** Hashes the octets of an address with 32-bit FNV-1a (prometheus/blackbox_exporter, prober/utils.go, ipHash). */
export function hashAddress(ip: string): number {
  let hash = 0x811c9dc5;
  for (const octet of ipaddr.parse(ip).toByteArray()) hash = Math.imul(hash ^ octet, 0x01000193) >>> 0;
  return hash;
}
