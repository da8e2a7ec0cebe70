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

/** The programs without which there is no lab, with the Debian package each is in. */
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

/** Programs that answers are held against, likewise. */
const PEERS = { openssl: "openssl", sslscan: "sslscan", testssl: "testssl.sh", whois: "whois" } as const;

/** Why no lab can be built here, or not with the peers that a test needs, in one line; null where it can. */
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

/** The environment of everything started in the lab: Debian's system programs are on its PATH, and Node keeps compiled code. */
export const LAB_ENVIRONMENT = {
  PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`,
  LC_ALL: "C",
  ...COMPILED_CODE,
};

/** One run's names: unique while its process lives, and tell a later run whose they were. */
export function runName(): string {
  return `${PREFIX}-${process.pid}-${startOf(process.pid) ?? ""}`;
}

/** When a process started, in ticks since boot; null where it is gone. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

/** Namespaces of one run, or of all runs. */
export function listNamespaces(name = PREFIX): readonly string[] {
  return entriesOf(NETNS).filter((entry) => entry.startsWith(`${name}-`));
}

/** Removes what runs left behind whose process is gone: processes, namespaces, folders. */
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

/** Ends every process inside the namespaces, then the namespaces; their links go with them. */
export async function removeNamespaces(names: readonly string[]): Promise<void> {
  const present = new Set(listNamespaces());
  const there = names.filter((name) => present.has(name));
  for (const pid of processesIn(there)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself meanwhile.
    }
  }
  if (there.length > 0) await ipBatch(there.map((name) => `netns del ${name}`));
  for (const name of names) rmSync(`${ETC}/${name}`, { recursive: true, force: true });
}

/** Ids of the processes inside any of these namespaces. */
export function processesIn(names: readonly string[]): readonly number[] {
  // A namespace is known by the inode behind both its name and its members' links.
  const wanted = new Set(names.map((name) => `net:[${statSync(`${NETNS}/${name}`).ino}]`));
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

/** Runs lines of `ip -batch`. Rejects with what ip said. */
export function ipBatch(lines: readonly string[]): Promise<string> {
  return feed(["ip", "-batch", "-"], `${lines.join("\n")}\n`);
}

/** Runs a command with text on its standard input; resolves to its output, rejects with what it complained of. */
export function feed([program = "", ...rest]: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, rest, { env: LAB_ENVIRONMENT, timeout: 30_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${program} ${rest.join(" ")}: ${stderr || error.message}`));
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

/** Gives a namespace an own file in /etc; `ip netns exec` mounts it over the host's. */
export function writeEtc(namespace: string, file: string, text: string): void {
  mkdirSync(`${ETC}/${namespace}`, { recursive: true });
  writeFileSync(`${ETC}/${namespace}/${file}`, text);
}

/** Starts a program in a namespace; it gets `lastSignal` when this process ends, however that happens. */
export function spawnIn(
  namespace: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  lastSignal: "KILL" | "TERM" = "KILL",
): ChildProcess {
  const line = ["--pdeathsig", lastSignal, "ip", "netns", "exec", namespace, ...command];
  return spawn("setpriv", line, { env: { ...LAB_ENVIRONMENT, ...environment }, stdio: ["pipe", "pipe", "pipe"] });
}
