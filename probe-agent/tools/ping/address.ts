import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address, IpVersion, Resolved } from "#probe-agent/port/address.ts";

/** Returns the requested address family. Undefined if either family is allowed. */
export function onlyVersion(given: number | undefined): IpVersion | undefined {
  if (given === undefined) return undefined;
  return given === 6 ? 6 : 4;
}

/**
 * Returns the first address of a family in which this probe can send raw packets, if it needs to. Otherwise the first
 * address.
 */
export function preferredAddress(net: Net, { allowed }: Resolved, needsRaw: boolean): Address {
  const [first] = allowed;
  if (first === undefined) throw new Error("resolved to no allowed address");
  return needsRaw ? (allowed.find((address) => hasRaw(net, address)) ?? first) : first;
}

/** Reports whether this probe can send raw packets to the address. */
export function hasRaw(net: Net, address: Address): boolean {
  const { v4, v6 } = net.icmp.available();
  return address.version === 4 ? v4 : v6;
}

/** Returns the sentence about addresses that were left out. */
export function blockedNote({ blocked }: Resolved): readonly string[] {
  if (blocked.length === 0) return [];
  return [
    `Addresses of the host that the probe is not allowed to contact were left out: ${blocked.map(({ ip }) => ip).join(", ")}.`,
  ];
}
