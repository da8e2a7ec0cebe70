import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import { createListRule } from "#shared/egress/addresses.ts";

/** Returns the address of a request's client: an IPv4 or IPv6 literal, "" if the connection is already closed. */
type ReadClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Creates a reader of client addresses behind trusted proxies (CIDR ranges; none: X-Forwarded-For is ignored). Each
 * proxy appends the address of its peer, so the list is read from its end while the address that wrote an entry is trusted.
 * Ports are dropped: they differ with every connection. An invalid entry counts as the proxy that wrote it; otherwise a
 * client could look like a new one with every request. Throws a RangeError for an invalid range.
 */
export function createClientAddress(trustedProxies: readonly string[]): ReadClientAddress {
  const isTrusted = createListRule(trustedProxies);
  return (peer, forwardedFor = "") => {
    let client = readAddress(peer ?? "") ?? "";
    let end = forwardedFor.length;
    while (end > 0 && isTrusted(client)) {
      const comma = forwardedFor.lastIndexOf(",", end - 1);
      const entry = forwardedFor.slice(comma + 1, end).trim();
      end = comma;
      // RFC 9110, section 5.6.1: empty elements of a list are ignored.
      if (entry === "") continue;
      const address = readAddress(entry);
      if (address === null) break;
      client = address;
    }
    return client;
  };
}

/** Scheme of the address that a browser asked for. */
type Scheme = "http" | "https";

/**
 * Creates a reader of the scheme of requests to a listener: its own, or, where the peer is a trusted proxy, the last one in
 * X-Forwarded-Proto, which that proxy wrote. Throws a RangeError for an invalid range.
 */
export function createScheme(
  trustedProxies: readonly string[],
  own: Scheme,
): (peer: string | undefined, forwardedProto: string | undefined) => Scheme {
  const isTrusted = createListRule(trustedProxies);
  return (peer, forwardedProto = "") => {
    const named = forwardedProto
      .slice(forwardedProto.lastIndexOf(",") + 1)
      .trim()
      .toLowerCase();
    const isNamed = (named === "http" || named === "https") && isTrusted(readAddress(peer ?? "") ?? "");
    return isNamed ? named : own;
  };
}

// address, address:port, [v6], [v6]:port; a bare IPv6 address has no port.
const ENTRY = /^(?:\[([0-9A-Fa-f:.]{2,45})(?:%[^\]]{1,64})?\]|([0-9.]{7,15}))(?::\d{1,5})?$/;

/** Returns the address of an entry in normal form: no port, no zone, IPv4-mapped as IPv4; null if it is invalid. */
function readAddress(entry: string): string | null {
  if (entry.length > 128) return null;
  const [, bracketed, plain] = ENTRY.exec(entry) ?? [];
  if (plain !== undefined) return isIPv4(plain) ? plain : null;
  const address = bracketed ?? entry.split("%", 1)[0] ?? "";
  return isIPv6(address) ? normalise(address) : null;
}

/** Prefix of IPv4 peers at a listener for both address families. */
const MAPPED = "::ffff:";
/** Cache of normal forms of IPv6 addresses: parsing one takes about 8 us. */
const known = createLeastRecent<string, string>(10_000);

function normalise(address: string): string {
  if (address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length))) return address.slice(MAPPED.length);
  const normal = known.get(address);
  if (normal !== undefined) return normal;
  const parsed = ipaddr.IPv6.parse(address);
  const made = parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toRFC5952String();
  known.set(address, made);
  return made;
}
