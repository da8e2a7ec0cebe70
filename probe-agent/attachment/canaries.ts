import { createSocket } from "node:dgram";
import { isIP, isIPv6 } from "node:net";
import { isLoopback } from "#shared/settings/address.ts";
import type { DnsAnswer, DnsPort } from "#probe-agent/port/dns.ts";
import type { Canaries } from "#probe-agent/attachment/self-test.ts";

/** Dependencies of the canaries. */
export interface CanaryOptions {
  /** Creates a DNS port limited to one self-test. */
  readonly dns: () => Pick<DnsPort, "query">;
  /** Returns the addresses of the replicas that this agent is attached to. */
  readonly attachedAddresses: () => readonly string[];
}

const QUERY_MS = 1_800;
/** Addresses of root servers. A route to them is a route to the internet. Nothing is sent to them. */
const FAR = { udp4: "198.41.0.4", udp6: "2001:503:ba3e::2:30" } as const;

/** Creates the canaries of an agent's own network. */
export function createCanaries({ dns, attachedAddresses }: CanaryOptions): Canaries {
  return {
    // Queries the name servers of the root: every resolver knows them, and no zone owner can remove them.
    resolver: async () => showsWorkingNetwork(await dns().query({ name: ".", type: "NS", timeoutMs: QUERY_MS })),
    route: async () => (await Promise.all([hasRoute("udp4"), hasRoute("udp6")])).includes(true),
    control_plane: () => Promise.resolve(attachedAddresses().some((address) => !isOnThisHost(address)) ? true : null),
  };
}

/**
 * Reports whether an answer shows that the network behind the resolver works. A forwarder on this host answers SERVFAIL
 * or REFUSED without any network.
 */
function showsWorkingNetwork({ status, server }: DnsAnswer): boolean {
  if (status === "TIMEOUT" || status === "MALFORMED") return false;
  return !["SERVFAIL", "REFUSED"].includes(status) || !isLoopback(server.replace(/#\d+$/, ""));
}

/** Reports whether an address is on this host. A stream to it proves nothing about the network. */
function isOnThisHost(address: string): boolean {
  const host = address
    .replace(/^dns:\/\/\//, "")
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "");
  return isLoopback(host);
}

/** Reports whether the routing table has a route. Connecting a UDP socket sends no packet and fails without a route. */
function hasRoute(family: keyof typeof FAR): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(family);
    const settle = (found: boolean) => {
      socket.close();
      resolve(found);
    };
    socket.once("error", () => settle(false));
    socket.connect(53, FAR[family], () => {
      const { address } = socket.address();
      settle(isIP(address) !== 0 && !isLoopback(address) && !(isIPv6(address) && /^fe80/i.test(address)));
    });
  });
}
