import type { Topology } from "#test/lab/topology.ts";

/** IP version. */
export type Family = 4 | 6;

/** One network interface of one node. */
export interface Interface {
  readonly node: string;
  /** Device name inside the node's namespace. */
  readonly device: string;
  /** Primary address of each family. */
  readonly ip: Readonly<Record<Family, string>>;
  readonly prefixLength: Readonly<Record<Family, number>>;
  /** PTR name of the interface, without a final dot. */
  readonly ptr: string;
  /** Network of the interface: a key of `wans` or `lans`. */
  readonly network: { readonly kind: "wan" | "lan"; readonly name: string };
}

/** Domain of every host and interface name. */
export const LAB_DOMAIN = "lab.test";

const FIRST_HOST = 10;
const FIRST_ALIAS = 20;

/**
 * Returns every interface. WAN link i (from 1) is 198.18.i.0/30 and 2001:db8:18:i::/64, its `a` end 1 and its `b` end
 * 2. LAN i (from 1) is 198.19.i.0/24 and 2001:db8:19:i::/64 unless it names a prefix, its router 1, its hosts 10, 11,
 * ...
 */
export function interfaces(topology: Topology): readonly Interface[] {
  const wans = Object.entries(topology.wans).flatMap(([name, { a, b }], index) =>
    [a, b].map((node, end): Interface => {
      const other = end === 0 ? b : a;
      return {
        node,
        device: `w${index}`,
        ip: { 4: `198.18.${index + 1}.${end + 1}`, 6: `2001:db8:18:${index + 1}::${end + 1}` },
        prefixLength: { 4: 30, 6: 64 },
        ptr: isHost(topology, node) ? `${node}.${LAB_DOMAIN}` : `to-${other}.${node}.${LAB_DOMAIN}`,
        network: { kind: "wan", name },
      };
    }),
  );
  const lans = Object.entries(topology.lans).flatMap(([name, lan], index) =>
    [lan.router, ...lan.hosts].map((node, position): Interface => {
      const number = position === 0 ? 1 : FIRST_HOST + position - 1;
      return {
        node,
        device: position === 0 ? "lan" : "eth0",
        ip: lanAddress(topology, name, index, number),
        prefixLength: { 4: 24, 6: 64 },
        ptr: position === 0 ? `lan.${node}.${LAB_DOMAIN}` : `${node}.${LAB_DOMAIN}`,
        network: { kind: "lan", name },
      };
    }),
  );
  return [...wans, ...lans];
}

/** An additional address of a host, with a separate name. */
export interface Alias {
  readonly name: string;
  readonly node: string;
  readonly ip: Readonly<Record<Family, string>>;
  readonly ptr: string;
}

/** Returns every additional address: 20, 21, ... of its host's LAN. */
export function aliases(topology: Topology): readonly Alias[] {
  return Object.entries(topology.lans).flatMap(([lan, { hosts }], index) =>
    hosts
      .flatMap((node) => (topology.nodes[node]?.also ?? []).map((name) => ({ node, name })))
      .map(({ node, name }, position) => ({
        name,
        node,
        ip: lanAddress(topology, lan, index, FIRST_ALIAS + position),
        ptr: `${name}.${LAB_DOMAIN}`,
      })),
  );
}

/**
 * Returns the address of a node (a router's first interface) or of an additional address's name. Throws on an unknown
 * name.
 */
export function addressOf(topology: Topology, name: string, family: Family = 4): string {
  const found =
    interfaces(topology).find(({ node }) => node === name) ?? aliases(topology).find((alias) => alias.name === name);
  if (found === undefined) throw new Error(`the lab has no ${name}`);
  return found.ip[family];
}

/** Returns the node with a name: the node itself, or the host of an additional address. */
export function nodeOf(topology: Topology, name: string): string {
  return aliases(topology).find((alias) => alias.name === name)?.node ?? name;
}

function lanAddress(topology: Topology, name: string, index: number, number: number): Record<Family, string> {
  const { prefix4 = `198.19.${index + 1}`, prefix6 = `2001:db8:19:${index + 1}` } = topology.lans[name] ?? {};
  return { 4: `${prefix4}.${number}`, 6: `${prefix6}::${number}` };
}

function isHost(topology: Topology, node: string): boolean {
  return topology.nodes[node]?.kind === "host";
}
