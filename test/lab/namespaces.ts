import { execFile, spawn, type ChildProcess } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { COMPILED_CODE } from "#test/support/compiled-code.ts";

const PREFIX = "vantage-lab";
const NETNS = "/run/netns";
const ETC = "/etc/netns";

/** Programs that the lab requires, with their Debian packages. */
const PROGRAMS = [
  ["ip", "iproute2"],
  ["nft", "nftables"],
  ["gcc", "gcc"],
  ["ping", "iputils-ping"],
  ["traceroute", "traceroute"],
  ["named", "bind9"],
  ["dnssec-signzone", "bind9-utils"],
  ["dig", "bind9-dnsutils"],
  ["unbound", "unbound"],
  ["curl", "curl"],
  ["openssl", "openssl"],
] as const;

/** Programs that answers are compared with, with their Debian packages. */
const PEERS = { openssl: "openssl", sslscan: "sslscan", testssl: "testssl.sh", whois: "whois" } as const;

/** Returns in one line why no lab can be built here, or not with the peers that a test needs; null if it can. */
export function whyNoLab(...peers: readonly (keyof typeof PEERS)[]): string | null {
  if (process.getuid?.() !== 0) return "skipped: the lab needs root (network namespaces)";
  const missing = [...PROGRAMS, ...peers.map((peer) => [peer, PEERS[peer]] as const)]
    .filter(([program]) => !hasProgram(program))
    .map(([, name]) => name);
  if (missing.length > 0) return `skipped: the lab needs ${missing.join(", ")} (Debian packages)`;
  if (!existsSync("/dev/net/tun")) return "skipped: the lab needs /dev/net/tun";
  return null;
}

function hasProgram(name: string): boolean {
  const folders = `${process.env["PATH"] ?? ""}${delimiter}/usr/sbin${delimiter}/sbin`.split(delimiter);
  return folders.some((folder) => existsSync(`${folder}/${name}`));
}

/**
 * Environment of everything started in the lab. Its PATH has Debian's system programs, and Node keeps compiled code.
 */
export const LAB_ENVIRONMENT = {
  PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`,
  LC_ALL: "C",
  ...COMPILED_CODE,
};

/**
 * Returns the prefix of one run's names. It is unique while its process lives and tells a later run which process used
 * it.
 */
export function runName(): string {
  return `${PREFIX}-${process.pid}-${startOf(process.pid) ?? ""}`;
}

/** Returns when a process started, in ticks since boot; null if it has ended. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

/** Lists the namespaces of one run, or of all runs. */
export function listNamespaces(name = PREFIX): readonly string[] {
  return entriesOf(NETNS).filter((entry) => entry.startsWith(`${name}-`));
}

/** Removes what runs left behind whose process has ended: processes, namespaces, folders. */
export async function sweep(): Promise<void> {
  const isDead = (entry: string): boolean => {
    const [, pid = "", start] = /^vantage-lab-(\d+)-(\d+)-/.exec(entry) ?? [];
    return start !== undefined && startOf(Number(pid)) !== start;
  };
  await removeNamespaces([...new Set([...listNamespaces(), ...entriesOf(ETC)])].filter(isDead));
  for (const entry of entriesOf(tmpdir()).filter(isDead))
    rmSync(join(tmpdir(), entry), { recursive: true, force: true });
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).filter((entry) => entry.startsWith(`${PREFIX}-`));
  } catch {
    return [];
  }
}

/** Ends every process in the namespaces, then deletes the namespaces, and their links with them. */
export async function removeNamespaces(names: readonly string[]): Promise<void> {
  const find = (): readonly string[] => {
    const present = new Set(listNamespaces());
    return names.filter((name) => present.has(name));
  };
  for (const pid of processesIn(find())) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself in the meantime.
    }
  }
  for (let there = find(); there.length > 0;) {
    await ipBatch(there.map((name) => `netns del ${name}`)).catch((error: unknown) => {
      // Two files that start at the same time sweep the same namespaces.
      if (find().length === there.length) throw error;
    });
    there = find();
  }
  for (const name of names) rmSync(`${ETC}/${name}`, { recursive: true, force: true });
}

/** Returns the ids of the processes in any of these namespaces. */
export function processesIn(names: readonly string[]): readonly number[] {
  // A namespace is identified by the inode of both its name and its members' links.
  const wanted = new Set(
    names.map((name) => `net:[${statSync(`${NETNS}/${name}`, { throwIfNoEntry: false })?.ino ?? "gone"}]`),
  );
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return wanted.has(readlinkSync(`/proc/${pid}/ns/net`));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Runs lines of `ip -batch`. Rejects with the output of ip. */
export function ipBatch(lines: readonly string[]): Promise<string> {
  return feed(["ip", "-batch", "-"], `${lines.join("\n")}\n`);
}

/** Runs a command with text on its standard input. Resolves with its output, rejects with its error output. */
export function feed([program = "", ...rest]: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, rest, { env: LAB_ENVIRONMENT, timeout: 240_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${program} ${rest.join(" ")}: ${stderr || error.message}`));
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

/** Gives a namespace a separate file in /etc, which `ip netns exec` mounts over the host's. */
export function writeEtc(namespace: string, file: string, text: string): void {
  mkdirSync(`${ETC}/${namespace}`, { recursive: true });
  writeFileSync(`${ETC}/${namespace}/${file}`, text);
}

/** Starts a program in a namespace. It gets `lastSignal` when this process ends for any reason. */
export function spawnIn(
  namespace: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  lastSignal: "KILL" | "TERM" = "KILL",
): ChildProcess {
  const line = ["--pdeathsig", lastSignal, "ip", "netns", "exec", namespace, ...command];
  return spawn("setpriv", line, { env: { ...LAB_ENVIRONMENT, ...environment }, stdio: ["pipe", "pipe", "pipe"] });
}
