import type { Clock, Random } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { createQuery } from "#probe-agent/net/dns/client.ts";
import { resolveHost, reverseNames } from "#probe-agent/net/dns/resolver.ts";
import { parseServer, type ServerAddress } from "#probe-agent/net/dns/server-address.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import { readFile } from "node:fs/promises";

/** Options of DNS. */
interface DnsDeps {
  /**
   * The operator's resolvers: `address`, `v4:port`, `[v6]:port` or `address#port`. If empty, the system's resolvers are
   * used.
   */
  readonly servers: readonly string[];
  /** Decides which names are resolved and which found addresses are allowed. The servers themselves are trusted. */
  readonly egress: Egress;
  readonly clock: Clock;
  readonly random: Random;
  /** Path of the system's configuration, read for each question. Default: /etc/resolv.conf. */
  readonly resolvConf?: string;
  /** PEM roots for DNS over TLS and HTTPS, instead of Node's. */
  readonly roots?: readonly string[];
}

// resolv.conf(5): further servers are ignored, and none means the local host.
const MAX_SERVERS = 3;
const OWN_MACHINE: ServerAddress = { ip: "127.0.0.1", port: 53 };

/**
 * Creates the DNS port of each job. Nothing is cached, so measurements are fresh. Throws RangeError for an invalid
 * server.
 */
export function createDns(deps: DnsDeps): (job: JobLimits) => DnsPort {
  const configured = deps.servers.map((text): ServerAddress => {
    const server = parseServer(text);
    if (server === null) throw new RangeError(`${text} is not a DNS server: use address or address:port`);
    return server;
  });
  const servers = (): Promise<readonly ServerAddress[]> =>
    configured.length > 0 ? Promise.resolve(configured) : readSystemServers(deps.resolvConf);
  return (job) => {
    const query = createQuery({ ...deps, servers }, job);
    const resolver = { egress: deps.egress, clock: deps.clock, query, lookUpMs: job.lookUpMs };
    return {
      query: (question) => query(question),
      resolve: (host, only) => resolveHost(resolver, host, only),
      reverse: (ip) => reverseNames(query, ip),
    };
  };
}

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
async function readSystemServers(path = "/etc/resolv.conf"): Promise<readonly ServerAddress[]> {
  try {
    return parseResolvConf(await readFile(path, "utf8"));
  } catch {
    return [OWN_MACHINE];
  }
}
