import type { NetworkInterfaceInfo } from "node:os";
import type { Hello } from "#shared/protocol/probe.ts";
import { PROTOCOL } from "#shared/protocol/wire.ts";
import type { Config, PlaceConfig } from "#probe-agent/config.ts";
import type { IcmpCapabilities } from "#probe-agent/net/icmp/messages.ts";

/** Builds an agent's description of itself. The caller adds its id and replaces the credits by those of one stream. */
export function buildHello(config: Config, version: string, can: Capabilities): Omit<Hello, "agentId"> {
  const { raw, ipv6, browser } = can;
  return {
    protocol: PROTOCOL,
    version,
    location: locationOf(config.place),
    capabilities: [
      ...(raw.v4 ? ["icmp4"] : []),
      ...(raw.v6 ? ["icmp6"] : []),
      ...(raw.v4 || raw.v6 ? ["traceroute"] : []),
      ...(ipv6 ? ["ipv6"] : []),
      ...(browser ? ["browser"] : []),
    ],
    allowTargets: [...config.allow.targets],
    allowNames: [...config.allow.names],
    credits: config.maxJobs,
    maxJobs: config.maxJobs,
    sendsLog: true,
  };
}

/** Capabilities of this host. */
interface Capabilities {
  /** Raw sockets, as reported by the ICMP process. */
  readonly raw: IcmpCapabilities;
  /** Whether the host has a global IPv6 address to send from. */
  readonly ipv6: boolean;
  /** Whether there is a Chromium that can be run. */
  readonly browser: boolean;
}

/** Reports whether a host with these interfaces has a global IPv6 address (2000::/3, RFC 4291 section 2.4). */
export function hasGlobalIpv6(
  interfaces: readonly (Pick<NetworkInterfaceInfo, "family" | "internal" | "address"> | undefined)[],
): boolean {
  return interfaces.some((entry) => entry?.family === "IPv6" && !entry.internal && /^[23]/.test(entry.address));
}

function locationOf({ region, city, country, latitude, longitude, asn, tags }: PlaceConfig): Hello["location"] {
  return {
    region,
    city: city ?? "",
    country: country ?? "",
    asn: asn ?? 0,
    tags: [...tags],
    ...(latitude === null ? {} : { latitude }),
    ...(longitude === null ? {} : { longitude }),
  };
}
