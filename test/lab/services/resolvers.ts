import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { addressOf } from "#test/lab/addresses.ts";
import type { Network, Ran } from "#test/lab/driver.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { OPENED_NAMES } from "#test/lab/services/zones.ts";
import { REGIONS } from "#test/lab/topology.ts";

/** One validating resolver in each region. */
export interface Resolvers {
  /** Resolvers by region. */
  readonly daemons: ReadonlyMap<string, Daemon>;
  /** Removes a name and everything below it from all caches, so that bogus answers are validated again. */
  flush(name: string): Promise<void>;
}

/** Options of an additional resolver of a region. */
export interface ResolverOptions {
  /** Default: 53. */
  readonly port?: number;
  /** Default: true. A resolver that does not validate still passes DNSSEC records on. */
  readonly validates?: boolean;
  /** Additional lines of its server section. */
  readonly lines?: readonly string[];
}

/** Starts unbound in resolver-eu, resolver-us and resolver-ap, with the lab's root and its trust anchor. */
export async function startResolvers(network: Network, trustAnchorFile: string): Promise<Resolvers> {
  const daemons = await Promise.all(
    REGIONS.map(
      async (region) => [region, await startResolver(network, `resolver-${region}`, trustAnchorFile)] as const,
    ),
  );
  const control = (region: string, ...words: readonly string[]): Promise<Ran> => {
    const file = join(network.folder, `resolver-${region}.conf`);
    return network.run(`resolver-${region}`, ["unbound-control", "-c", file, ...words]);
  };
  return {
    daemons: new Map(daemons),
    async flush(name) {
      await Promise.all(
        REGIONS.flatMap((region) => [
          control(region, "flush_zone", name),
          control(region, "flush_bogus"),
          control(region, "flush_negative"),
        ]),
      );
    },
  };
}

/** Starts unbound on both addresses of a node. */
export async function startResolver(
  network: Network,
  node: string,
  trustAnchorFile: string,
  options: ResolverOptions = {},
): Promise<Daemon> {
  const name = options.port === undefined ? node : `${node}-${options.port}`;
  const file = join(network.folder, `${name}.conf`);
  writeFileSync(file, unboundConfig(network, node, name, trustAnchorFile, options));
  return await startDaemon(network, { node, command: ["unbound", "-d", "-v", "-c", file], ready: "start of service" });
}

function unboundConfig(
  { topology, folder }: Network,
  node: string,
  name: string,
  trustAnchorFile: string,
  { port = 53, validates = true, lines = [] }: ResolverOptions,
): string {
  const hints = join(folder, "root-hints");
  writeFileSync(
    hints,
    `. 3600000 NS ns.root.\nns.root. 3600000 A ${addressOf(topology, "dns-root", 4)}\n` +
      `ns.root. 3600000 AAAA ${addressOf(topology, "dns-root", 6)}\n`,
  );
  return `server:
  port: ${port}
  interface: ${addressOf(topology, node, 4)}
  interface: ${addressOf(topology, node, 6)}
  access-control: 0.0.0.0/0 allow
  access-control: ::/0 allow
  chroot: ""
  username: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  root-hints: "${hints}"
  trust-anchor-file: "${trustAnchorFile}"
  module-config: "${validates ? "validator iterator" : "iterator"}"
  ede: yes
  # Queries are answered by the wire alone: no cache of who is slow may outlive a test.
  infra-host-ttl: 1
${OPENED_NAMES.map((zone) => `  local-zone: "${zone}." nodefault`).join("\n")}
${lines.map((line) => `  ${line}`).join("\n")}
remote-control:
  control-enable: yes
  control-interface: "${join(folder, `${name}.sock`)}"
  control-use-cert: no
`;
}
