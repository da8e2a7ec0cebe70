import { isIPv4, isIPv6 } from "node:net";
import { listOf, parseRanges, translated } from "#shared/egress/ranges.ts";

/**
 * IPv4 ranges outside the public internet (IANA IPv4 Special-Purpose Address Registry, multicast, a cloud's own
 * service).
 */
const REFUSED_IPV4 = parseRanges([
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // Azure's host agent, reachable from every guest
  "169.254.0.0/16", // link local, cloud metadata
  "172.16.0.0/12", // private
  "192.0.0.0/24", // IETF protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
]);

/** Global unicast, and NAT64, where the embedded IPv4 address decides. */
const OPEN_IPV6 = parseRanges(["2000::/3", "64:ff9b::/96"]);

/** Parts of global unicast that have no hosts on the internet, or that embed an IPv4 address. */
const REFUSED_IPV6 = parseRanges([
  "2001::/23", // IETF protocol assignments: Teredo, ORCHID, benchmarking
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3fff::/20", // documentation
]);

/**
 * An IPv4-mapped address is a second spelling that would bypass the rule for the IPv4 address, so no list allows it.
 */
const MAPPED = listOf("ipv6", parseRanges(["::ffff:0:0/96"]));

const refused4 = listOf("ipv4", REFUSED_IPV4);
const open6 = listOf("ipv6", OPEN_IPV6);
const refused6 = listOf("ipv6", [...REFUSED_IPV6, ...translated(REFUSED_IPV4)]);

/**
 * Returns the family of a plain literal; null if it has a zone, which names a local interface and never a host on the
 * internet.
 */
export function literalFamily(ip: string): "ipv4" | "ipv6" | null {
  if (isIPv4(ip)) return "ipv4";
  return isIPv6(ip) && !ip.includes("%") ? "ipv6" : null;
}

/** Reports whether an address is on the public internet; false for anything but a plain literal. */
export function isPublic(ip: string): boolean {
  const family = literalFamily(ip);
  if (family === "ipv4") return !refused4.check(ip, "ipv4");
  return family === "ipv6" && open6.check(ip, "ipv6") && !refused6.check(ip, "ipv6");
}

/** Metadata services of clouds: AWS, Azure, GCP and others; Azure's host agent; AWS over IPv6; Alibaba; Oracle. */
const METADATA = ["169.254.0.0/16", "168.63.129.16/32", "fd00:ec2::/32", "100.100.100.200/32", "192.0.0.192/32"];
const isMetadata = createListRule(METADATA);

/** Reports whether an address is that of a metadata service, which answers with credentials of the machine. */
export function isMetadataAddress(ip: string): boolean {
  return isMetadata(ip);
}

/** Creates the address rule with allowed ranges (VANTAGE_ALLOW_TARGETS). Throws a RangeError on an invalid range. */
export function createAddressRule(opened: readonly string[]): (ip: string) => boolean {
  const isListed = createListRule(opened);
  return opened.length === 0 ? isPublic : (ip) => isPublic(ip) || isListed(ip);
}

/**
 * Creates a test whether ranges contain an address; false for anything but a plain literal. Throws a RangeError on an
 * invalid range.
 */
export function createListRule(listed: readonly string[]): (ip: string) => boolean {
  const ranges = parseRanges(listed);
  if (ranges.length === 0) return () => false;
  const listed4 = listOf("ipv4", ranges);
  const listed6 = listOf("ipv6", [...ranges, ...translated(ranges)]);
  return (ip) => {
    const family = literalFamily(ip);
    if (family === "ipv4") return listed4.check(ip, "ipv4");
    return family === "ipv6" && listed6.check(ip, "ipv6") && !MAPPED.check(ip, "ipv6");
  };
}
