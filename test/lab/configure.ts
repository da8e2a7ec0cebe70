import { aliases, interfaces, nodeOf } from "#test/lab/addresses.ts";
import { routes } from "#test/lab/paths.ts";
import type { Topology } from "#test/lab/topology.ts";

/** Returns lines of `ip -batch` that create every namespace and every cable of the local networks. Pure. */
export function creationLines(topology: Topology, namespace: (node: string) => string): readonly string[] {
  return [
    ...Object.keys(topology.nodes).map((node) => `netns add ${namespace(node)}`),
    ...Object.values(topology.lans).flatMap(({ router, hosts }) =>
      hosts.map(
        (host, port) =>
          `link add eth0 netns ${namespace(host)} type veth peer name port${port} netns ${namespace(router)}`,
      ),
    ),
  ];
}

/**
 * Returns a shell script for each node, to be run in its namespace: kernel settings, addresses, routes, silence. Pure.
 */
export function nodeScripts(topology: Topology): ReadonlyMap<string, string> {
  const [all, named, ways] = [interfaces(topology), aliases(topology), routes(topology)];
  return new Map(
    Object.entries(topology.nodes).map(([node, spec]) => {
      const own = all.filter((entry) => entry.node === node);
      const lan = Object.values(topology.lans).find(({ router }) => router === node);
      const batch = [
        "link set lo up",
        ...(lan === undefined ? [] : ["link add lan type bridge forward_delay 0 mcast_snooping 0"]),
        ...(lan?.hosts ?? []).map((_, port) => `link set port${port} master lan up`),
        ...own.flatMap(({ device, ip, prefixLength, network }) => {
          const { mtu = 1_500 } = topology.wans[network.kind === "wan" ? network.name : ""] ?? {};
          return [
            `addr add ${ip[4]}/${prefixLength[4]} dev ${device}`,
            `addr add ${ip[6]}/${prefixLength[6]} dev ${device} nodad`,
            `link set ${device} mtu ${mtu} up`,
          ];
        }),
        ...named
          .filter(({ name }) => nodeOf(topology, name) === node)
          .flatMap(({ ip }) => [`addr add ${ip[4]}/24 dev eth0`, `addr add ${ip[6]}/64 dev eth0 nodad`]),
        ...ways
          .filter((route) => route.node === node)
          .map(({ family, destination, via }) => {
            const hops = via.length === 1 ? `via ${via[0]}` : via.map((ip) => `nexthop via ${ip}`).join(" ");
            return `-${family} route add ${destination} ${hops}`;
          }),
      ];
      return [node, script(spec, batch)];
    }),
  );
}

type Spec = Topology["nodes"][string];

function script(spec: Spec, batch: readonly string[]): string {
  const [routers, global] = batch.reduce<[string[], string[]]>(
    ([flagged, plain], line) => (/^-[46] /.test(line) ? [[...flagged, line], plain] : [flagged, [...plain, line]]),
    [[], []],
  );
  const family = (flag: string): string =>
    routers
      .filter((line) => line.startsWith(flag))
      .map((line) => line.slice(3))
      .join("\n");
  return [
    "set -e",
    ...settings(spec).map(([path, value]) => `echo ${value} > /proc/sys/net/${path}`),
    `ip -batch - <<'END'\n${global.join("\n")}\nEND`,
    `ip -4 -batch - <<'END'\n${family("-4")}\nEND`,
    `ip -6 -batch - <<'END'\n${family("-6")}\nEND`,
    ...(spec.silent === true ? [`nft -f - <<'END'\n${SILENCE}\nEND`] : []),
  ].join("\n");
}

const SILENCE = packetFilter("silence", "output", ["meta l4proto { icmp, icmpv6 } drop"]);

/** Returns an nft table with one chain and its rules in order. Pure. */
export function packetFilter(name: string, hook: "prerouting" | "input" | "output", rules: readonly string[]): string {
  const lines = [`type filter hook ${hook} priority ${hook === "prerouting" ? -300 : 0}`, ...rules];
  return `table inet ${name} {\n  chain only {\n    ${lines.join("\n    ")}\n  }\n}\n`;
}

function settings(spec: Spec): readonly (readonly [path: string, value: number | string])[] {
  return [
    // No wait for duplicate addresses and no router discovery, because everything is configured statically.
    ["ipv6/conf/all/accept_dad", 0],
    ["ipv6/conf/default/accept_dad", 0],
    ["ipv6/conf/all/accept_ra", 0],
    ["ipv6/conf/default/accept_ra", 0],
    ["ipv4/ip_unprivileged_port_start", 0],
    ...(spec.kind === "host"
      ? []
      : ([
          ["ipv4/ip_forward", 1],
          ["ipv6/conf/all/forwarding", 1],
          // Ports are part of the choice of a path, as in the core of real networks.
          ["ipv4/fib_multipath_hash_policy", 1],
          ["ipv6/fib_multipath_hash_policy", 1],
          ["ipv4/icmp_errors_use_inbound_ifaddr", 1],
        ] as const)),
    ...(spec.limited === true
      ? []
      : ([
          ["ipv4/icmp_ratelimit", 0],
          ["ipv4/icmp_msgs_per_sec", 1_000_000],
          ["ipv4/icmp_msgs_burst", 1_000_000],
          ["ipv6/icmp/ratelimit", 0],
        ] as const)),
  ];
}
