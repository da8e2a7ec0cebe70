import { isIP, isIPv4 } from "node:net";
import { lookup } from "node:dns";
import { hashAddress } from "#shared/internet/address-hash.ts";
import { family, toSeconds } from "#probe-agent/exporter/samples.ts";
import type { AddressChoice } from "#shared/blackbox/module.ts";
import type { Probe, ProberContext } from "#probe-agent/exporter/probe.ts";

const LOOKUP_SECONDS = family(
  "probe_dns_lookup_time_seconds",
  "Returns the time taken for probe dns lookup in seconds",
);
const ADDRESS_HASH = family(
  "probe_ip_addr_hash",
  "Specifies the hash of IP address. It's useful to detect if the IP address changes.",
);
const PROTOCOL = family("probe_ip_protocol", "Specifies whether probe ip protocol is IP4 or IP6");

/** The address to probe; or that the name has none, or that it is not allowed. */
type Resolved =
  | { readonly status: "ok"; readonly ip: string; readonly seconds: number }
  | { readonly status: "failure" | "refused"; readonly seconds: number };

/**
 * Looks a host up with the system's resolver, as the exporter does: its hosts file, search domains and servers hold.
 * Chooses the address and sets the metrics about it.
 */
export async function resolveTarget(
  probe: Probe,
  host: string,
  choice: AddressChoice,
  context: ProberContext,
): Promise<Resolved> {
  const { samples, log } = probe;
  samples.set(PROTOCOL, 0);
  samples.set(ADDRESS_HASH, 0);
  log("info", "Resolving target address", { target: host, ip_protocol: choice.preferred_ip_protocol });
  const startedAt = context.clock.monotonic();
  const addresses = await lookUp(host, probe.signal);
  const seconds = toSeconds(context.clock.monotonic() - startedAt);
  samples.set(LOOKUP_SECONDS, seconds);
  if ("fault" in addresses) {
    log("error", "Resolution with IP protocol failed", { target: host, err: addresses.fault });
    return { status: "failure", seconds };
  }
  const ip = chooseAddress(addresses, choice);
  if (ip === null) {
    log("error", "Resolution with IP protocol failed", { target: host, err: "unable to find ip; no fallback" });
    return { status: "failure", seconds };
  }
  if (!context.allows(ip) || context.deniesName(host.toLowerCase().replace(/\.$/, ""))) {
    log("error", "Target is not allowed", { target: host, ip });
    return { status: "refused", seconds };
  }
  log("info", "Resolved target address", { target: host, ip });
  samples.set(PROTOCOL, isIPv4(ip) ? 4 : 6);
  samples.set(ADDRESS_HASH, hashAddress(ip));
  return { status: "ok", ip, seconds };
}

/** Returns the first address of the preferred family, else the first of the other one; null if that is not wanted. */
function chooseAddress(addresses: readonly string[], choice: AddressChoice): string | null {
  const wantsIpv4 = choice.preferred_ip_protocol === "ip4";
  const preferred = addresses.find((ip) => isIPv4(ip) === wantsIpv4);
  return preferred ?? (choice.ip_protocol_fallback ? (addresses[0] ?? null) : null);
}

/** Maximum length of a name in octets (RFC 1035 section 2.3.4), with a final dot. */
const LONGEST_NAME = 254;

/** Returns the addresses of a host in the order of the resolver, a literal itself; or why there are none. */
export function lookUp(host: string, signal: AbortSignal): Promise<readonly string[] | { readonly fault: string }> {
  if (isIP(host) !== 0) return Promise.resolve([host]);
  if (host === "" || host.length > LONGEST_NAME) return Promise.resolve({ fault: `lookup ${host}: no such host` });
  return new Promise((resolve) => {
    // getaddrinfo cannot be ended: its answer is dropped then.
    const end = (): void => resolve({ fault: `lookup ${host}: i/o timeout` });
    if (signal.aborted) return end();
    signal.addEventListener("abort", end, { once: true });
    lookup(host, { all: true, order: "verbatim" }, (error, found) => {
      signal.removeEventListener("abort", end);
      resolve(error === null ? found.map(({ address }) => address) : { fault: `lookup ${host}: ${error.code}` });
    });
  });
}
