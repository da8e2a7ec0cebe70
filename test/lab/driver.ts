import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { execFile } from "node:child_process";
import { aliases, interfaces } from "#test/lab/addresses.ts";
import { creationLines, nodeScripts, packetFilter } from "#test/lab/configure.ts";
import { compileLinks, startLinks, type Links } from "#test/lab/links.ts";
import {
  feed,
  ipBatch,
  LAB_ENVIRONMENT,
  removeNamespaces,
  runName,
  spawnIn,
  sweep,
  writeEtc,
} from "#test/lab/namespaces.ts";
import type { Topology } from "#test/lab/topology.ts";

/** Result of a command in the lab. */
export interface Ran {
  /** Exit status; null after a signal (its time ended). */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running simulated internet of network namespaces. */
export interface Network {
  readonly topology: Topology;
  /** Folder that is removed with the network. */
  readonly folder: string;
  readonly links: Links;
  namespace(node: string): string;
  /** Runs a command in a node to its end, with a time limit (default: 20 s). Never rejects. */
  run(node: string, command: readonly string[], timeoutMs?: number): Promise<Ran>;
  /**
   * Starts a program in a node that runs until it or the network is stopped. If this process dies unexpectedly, the
   * program gets `lastSignal` (default: KILL).
   */
  spawn(
    node: string,
    command: readonly string[],
    environment?: Readonly<Record<string, string>>,
    lastSignal?: "KILL" | "TERM",
  ): ChildProcess;
  /** Loads packet filter rules (in nft's language) in a node. */
  nft(node: string, rules: string): Promise<void>;
  /** Drops all packets between two nodes from now on, without an error to either. */
  cut(one: string, other: string): Promise<void>;
  /** Ends a cut. */
  heal(one: string, other: string): Promise<void>;
  /** Writes a file that a node sees in /etc instead of the host's, for commands started later. */
  etc(node: string, file: string, text: string): void;
  /** Ends all processes in the network and removes everything. */
  close(): Promise<void>;
}

const AT_ONCE = 6;

/** Builds the network of a table. Rejects, and leaves nothing behind, if that fails. */
export async function bringUp(topology: Topology): Promise<Network> {
  const name = runName();
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  // The database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  const namespace = (node: string): string => {
    if (topology.nodes[node] === undefined) throw new Error(`the lab has no node ${node}`);
    return `${name}-${node}`;
  };
  const all = Object.keys(topology.nodes).map(namespace);
  let links: Links | null = null;
  const close = async (): Promise<void> => {
    await links?.close();
    await removeNamespaces(all);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const compiled = compileLinks(folder);
    compiled.catch(() => undefined);
    await sweep();
    await ipBatch(creationLines(topology, namespace));
    links = await startLinks(await compiled, topology, namespace);
    await inTurns([...nodeScripts(topology)], AT_ONCE, ([node, script]) =>
      feed(["ip", "netns", "exec", namespace(node), "sh"], script),
    );
    return { topology, folder, links, namespace, close, ...commands(topology, namespace) };
  } catch (error) {
    await close();
    throw error;
  }
}

function commands(
  topology: Topology,
  namespace: (node: string) => string,
): Pick<Network, "run" | "spawn" | "nft" | "cut" | "heal" | "etc"> {
  const nft = async (node: string, text: string): Promise<void> => {
    await feed(["ip", "netns", "exec", namespace(node), "nft", "-f", "-"], text);
  };
  const bothWays = async (one: string, other: string, text: (of: string) => string): Promise<void> => {
    await Promise.all([nft(one, text(other)), nft(other, text(one))]);
  };
  return {
    run: (node, command, timeoutMs = 240_000) =>
      new Promise((resolve) => {
        const options = {
          env: LAB_ENVIRONMENT,
          timeout: timeoutMs,
          maxBuffer: 1 << 24,
          killSignal: "SIGKILL",
        } as const;
        execFile("ip", ["netns", "exec", namespace(node), ...command], options, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
          resolve({ code, stdout, stderr });
        });
      }),
    nft,
    spawn: (node, command, environment, lastSignal) => spawnIn(namespace(node), command, environment, lastSignal),
    cut: (one, other) =>
      bothWays(one, other, (of) => {
        const own = [...interfaces(topology), ...aliases(topology)].filter(({ node }) => node === of);
        const drop = (family: 4 | 6, keyword: string): string =>
          `${keyword} saddr { ${own.map(({ ip }) => ip[family]).join(", ")} } drop`;
        return packetFilter(tableOf(of), "prerouting", [drop(4, "ip"), drop(6, "ip6")]);
      }),
    heal: (one, other) => bothWays(one, other, (of) => `delete table inet ${tableOf(of)}\n`),
    etc: (node, file, text) => writeEtc(namespace(node), file, text),
  };
}

function tableOf(node: string): string {
  return `cut_${node.replaceAll("-", "_")}`;
}

/** Runs `work` for every item, several at the same time. */
export async function inTurns<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
