import type { Clock, Random } from "#shared/clock.ts";
import type { Egress } from "#shared/egress.ts";
import { createQuery } from "#probe-agent/net/dns/client.ts";
import { resolveHost, reverseNames } from "#probe-agent/net/dns/resolver.ts";
import { parseServer, type ServerAddress } from "#probe-agent/net/dns/server-address.ts";
import { readSystemServers } from "#probe-agent/net/dns/system-config.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";

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
