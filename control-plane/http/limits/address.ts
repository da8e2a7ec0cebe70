import { isIPv4 } from "node:net";
import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import ipaddr from "ipaddr.js";
import type { Clock } from "#shared/time/clock.ts";
import { createListRule } from "#shared/egress/addresses.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";

/** Options of an address limiter. */
interface AddressLimiterOptions {
  readonly clock: Clock;
  /** Maximum number of calls in a window. */
  readonly limit: number;
  readonly windowSeconds: number;
  /** Maximum number of addresses in memory; the least recently used one is forgotten first. */
  readonly addresses?: number;
}

interface Entry {
  window: number;
  count: number;
}

/** Creates a limiter for calls without an account. Its memory is bounded. IPv6 clients are counted by their /64. */
export function createAddressLimiter(options: AddressLimiterOptions): AddressLimiter {
  const { clock, limit, windowSeconds, addresses = 50_000 } = options;
  const entries = createLeastRecent<string, Entry>(addresses);

  function currentEntry(address: string, window: number): Entry {
    const group = addressGroup(address);
    let entry = entries.get(group);
    if (entry === undefined) {
      entry = { window, count: 0 };
      entries.set(group, entry);
    } else if (entry.window !== window) {
      entry.window = window;
      entry.count = 0;
    }
    return entry;
  }

  return {
    take(address) {
      const nowSeconds = clock.now().getTime() / 1_000;
      const window = Math.floor(nowSeconds / windowSeconds);
      const entry = currentEntry(address, window);
      const ok = entry.count < limit;
      if (ok) entry.count += 1;
      const resetsAt = (window + 1) * windowSeconds;
      const retryAfterSeconds = Math.max(1, Math.ceil(resetsAt - nowSeconds));
      return { ok, remaining: limit - entry.count, resetsAt, retryAfterSeconds };
    },
    isExhausted(address) {
      const entry = entries.get(addressGroup(address));
      return (
        entry !== undefined &&
        entry.count >= limit &&
        entry.window === Math.floor(clock.now().getTime() / 1_000 / windowSeconds)
      );
    },
  };
}

/**
 * Returns the address by which one client is counted: an IPv4 address, or the /64 of an IPv6 address, which one
 * subscriber gets.
 */
export function addressGroup(address: string): string {
  return withPrefix(address, 4);
}

/**
 * Creates a function that returns the network of an address, whose holders can be one person: the /24 of an IPv4 address,
 * the /48 of an IPv6 address. A loopback address or a trusted proxy (CIDR ranges) is a network of its own: its neighbours
 * serve others. Throws a RangeError for an invalid range.
 */
export function createNetworkOf(trustedProxies: readonly string[]): (address: string) => string {
  const isListed = createListRule([...LOOPBACK, ...trustedProxies]);
  return (address) => (isListed(address) ? address : addressNetwork(address));
}

const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/** Returns an IPv4 address, or the first parts, of 16 bits, of an IPv6 address. Other text is cut. */
function withPrefix(address: string, parts: number): string {
  if (!address.includes(":")) return address.slice(0, 64);
  const plain = address.split("%", 1)[0] ?? "";
  if (!ipaddr.IPv6.isValid(plain)) return address.slice(0, 64);
  const parsed = ipaddr.IPv6.parse(plain);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return parsed.parts
    .slice(0, parts)
    .map((part) => part.toString(16))
    .join(":");
}

/** Returns the network of an address, which one site gets: the /24 of an IPv4 address, the /48 of an IPv6 address. */
export function addressNetwork(address: string): string {
  const group = withPrefix(address, 3);
  return isIPv4(group) ? group.slice(0, group.lastIndexOf(".")) : group;
}
