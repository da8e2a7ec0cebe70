import { readFile } from "node:fs/promises";
import { parseServer, type ServerAddress } from "#probe-agent/net/dns/server-address.ts";

// resolv.conf(5): further servers are ignored, and none means the local host.
const MAX_SERVERS = 3;
const OWN_MACHINE: ServerAddress = { ip: "127.0.0.1", port: 53 };

/** Returns the name servers of a resolv.conf, in order. */
export function parseResolvConf(text: string): readonly ServerAddress[] {
  const servers = text
    .split("\n")
    .map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1])
    .map((address) => (address === undefined ? null : parseServer(address)))
    .filter((server) => server !== null)
    .slice(0, MAX_SERVERS);
  return servers.length === 0 ? [OWN_MACHINE] : servers;
}

/** Reads the system's resolv.conf at each call: leases and networks change while an agent runs. */
export async function readSystemServers(path = "/etc/resolv.conf"): Promise<readonly ServerAddress[]> {
  try {
    return parseResolvConf(await readFile(path, "utf8"));
  } catch {
    return [OWN_MACHINE];
  }
}
