import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";

/** A chain of network namespaces: probe - router 1 ... router n - target, IPv4 and IPv6, without an uplink. */
export interface Chain {
  /** Addresses of the routers as the probe sees them, followed by the target's. */
  readonly hops4: readonly string[];
  readonly hops6: readonly string[];
  /** Name of the first namespace. */
  readonly probe: string;
  /** Names of all namespaces, from the probe to the target. */
  readonly nodes: readonly string[];
  /** Returns the name of a node's device towards the target. */
  device(node: number): string;
  /** Runs a command in the namespace of a node. 0 is the probe, the last one the target. */
  run(node: number, command: string, ...args: readonly string[]): string;
  /** Deletes the namespaces, and their links with them. */
  close(): void;
}

/** Returns why no chain can be built here; null if it can. */
export function whyNoChain(): string | null {
  if (process.getuid?.() !== 0) return "skipped: network namespaces need root";
  try {
    const name = `vtprobe${randomBytes(3).toString("hex")}`;
    execFileSync("ip", ["netns", "add", name], { stdio: "pipe" });
    execFileSync("ip", ["netns", "del", name], { stdio: "pipe" });
    return null;
  } catch {
    return "skipped: network namespaces need iproute2 and CAP_SYS_ADMIN";
  }
}

/**
 * Builds a chain with `routers` routers. Link i joins node i and i + 1 as 10.77.i.0/24 and fd77:i::/64; the nearer node
 * is .1. Routers send an ICMP error for every packet unless `limited`, which keeps Linux's own rate limit of errors.
 */
export function buildChain(routers: number, options: { readonly limited: boolean }): Chain {
  const tag = randomBytes(3).toString("hex");
  const nodes = Array.from({ length: routers + 2 }, (_, index) => `vt${tag}n${index}`);
  const ip = (...args: readonly string[]): string => execFileSync("ip", args, { encoding: "utf8", stdio: "pipe" });
  const run = (node: number, command: string, ...args: readonly string[]): string =>
    execFileSync("ip", ["netns", "exec", nodes[node] ?? "", command, ...args], { encoding: "utf8", stdio: "pipe" });
  const close = (): void => {
    for (const node of nodes) {
      try {
        ip("netns", "del", node);
      } catch {
        // It was never created.
      }
    }
  };
  try {
    for (const node of nodes) {
      ip("netns", "add", node);
      ip("-n", node, "link", "set", "lo", "up");
    }
    nodes.slice(1).forEach((right, link) => join(ip, nodes[link] ?? "", right, link, tag));
    const last = nodes.length - 1;
    for (let node = 0; node <= last; node += 1) {
      // Towards the target through the right-hand neighbour, towards the probe through the left-hand one.
      for (let link = 0; link < last; link += 1) {
        if (link > node) route(ip, nodes[node] ?? "", link, node, 2);
        if (link < node - 1) route(ip, nodes[node] ?? "", link, node - 1, 1);
      }
      run(node, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1");
      if (!options.limited) run(node, "sysctl", "-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0");
    }
  } catch (error) {
    close();
    throw error;
  }
  const hops = (format: (link: number) => string) => Array.from({ length: routers + 1 }, (_, link) => format(link));
  return {
    hops4: hops((link) => `10.77.${link}.2`),
    hops6: hops((link) => (link === 0 ? "fd77::2" : `fd77:${link}::2`)),
    probe: nodes[0] ?? "",
    nodes,
    device: (node) => near(tag, node),
    run,
    close,
  };
}

type Ip = (...args: readonly string[]) => string;

function join(ip: Ip, left: string, right: string, link: number, tag: string): void {
  const far = `v${tag}${link}b`;
  ip("-n", left, "link", "add", near(tag, link), "type", "veth", "peer", "name", far, "netns", right);
  for (const [node, device, host] of [
    [left, near(tag, link), 1],
    [right, far, 2],
  ] as const) {
    ip("-n", node, "addr", "add", `10.77.${link}.${host}/24`, "dev", device);
    ip("-n", node, "addr", "add", `fd77:${link}::${host}/64`, "dev", device, "nodad");
    ip("-n", node, "link", "set", device, "up");
  }
}

function near(tag: string, link: number): string {
  return `v${tag}${link}a`;
}

function route(ip: Ip, node: string, link: number, via: number, host: 1 | 2): void {
  ip("-n", node, "route", "add", `10.77.${link}.0/24`, "via", `10.77.${via}.${host}`);
  ip("-n", node, "-6", "route", "add", `fd77:${link}::/64`, "via", `fd77:${via}::${host}`);
}
