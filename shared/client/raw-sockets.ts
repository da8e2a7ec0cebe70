import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLONE } from "#shared/client/programs.ts";
import { quoted } from "#shared/client/quoted.ts";

/** What decides whether this machine's agent can open raw sockets, and what to do where it cannot. */
export interface RawSocketFacts {
  /** Whether the compiled addon is there. */
  readonly hasAddon: boolean;
  /** The text of /proc/self/status (proc_pid_status(5)). */
  readonly status: string;
  /** The Node.js that runs the agent, links resolved. */
  readonly node: string;
  /** The clone's root directory. */
  readonly clone: string;
  /** Those of PROGRAMS_OF_INTEREST that are installed. */
  readonly programs: ReadonlySet<string>;
}

/** Why ICMP and traceroute are off, and the command or change that turns them on. */
export interface RawSocketProblem {
  readonly why: string;
  readonly todo: string;
}

/** Bit of CAP_NET_RAW in a capability set (linux/capability.h). */
const CAP_NET_RAW = 13n;
const ADDON = fileURLToPath(new URL("../../node_modules/raw-socket/build/Release/raw.node", import.meta.url));
/** Administrators' programs are there, also where a user's PATH does not say so. */
const SYSTEM_PATH = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/** What builds the addon, by the name that node-gyp runs. */
const BUILD_TOOLS = ["g++", "make", "python3"] as const;

/**
 * What setcap costs. Node.js reads no NODE_* variable of its own in a program that gained a right by its file (measured with
 * 24.21: NODE_EXTRA_CA_CERTS has no effect).
 */
const COST =
  "every user who can run that file gets the right, and Node.js then ignores NODE_EXTRA_CA_CERTS; deploy/systemd/vantage-agent.service gives the right to the agent alone";

interface PackageManager {
  readonly install: string;
  readonly packages: Readonly<Record<(typeof BUILD_TOOLS)[number] | "setcap", string>>;
}

/** Package managers by their program, and the packages of Debian, Fedora, openSUSE and Arch that hold each tool. */
const PACKAGE_MANAGERS: Readonly<Record<string, PackageManager>> = {
  "apt-get": {
    install: "apt-get install",
    packages: { "g++": "g++", make: "make", python3: "python3", setcap: "libcap2-bin" },
  },
  dnf: { install: "dnf install", packages: { "g++": "gcc-c++", make: "make", python3: "python3", setcap: "libcap" } },
  zypper: {
    install: "zypper install",
    packages: { "g++": "gcc-c++", make: "make", python3: "python3", setcap: "libcap-progs" },
  },
  pacman: { install: "pacman -S", packages: { "g++": "gcc", make: "make", python3: "python", setcap: "libcap" } },
};
const PROGRAMS_OF_INTEREST = [...BUILD_TOOLS, "setcap", ...Object.keys(PACKAGE_MANAGERS)];

/** Reads the facts of this machine and process. `searchPath`: the directories programs are looked for in. */
export function readRawSocketFacts(searchPath: readonly string[]): RawSocketFacts {
  const folders = [...searchPath, ...SYSTEM_PATH];
  return {
    hasAddon: existsSync(ADDON),
    status: readFileSync("/proc/self/status", "utf8"),
    node: realpathSync(process.execPath),
    clone: CLONE.replace(/(?<=.)\/$/, ""),
    programs: new Set(PROGRAMS_OF_INTEREST.filter((name) => folders.some((folder) => mayRun(join(folder, name))))),
  };
}

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What keeps raw sockets closed by these facts; null: nothing that can be seen. */
export function findRawSocketProblem(facts: RawSocketFacts): RawSocketProblem | null {
  if (!facts.hasAddon) return { why: "the raw-socket addon is not built", todo: adviseOnAddon(facts) };
  if (hasNetRaw(facts.status, "CapEff")) return null;
  return { why: "the agent has no right to open raw sockets (CAP_NET_RAW)", todo: adviseOnRight(facts) };
}

function adviseOnAddon(facts: RawSocketFacts): string {
  const missing = BUILD_TOOLS.filter((tool) => !facts.programs.has(tool));
  const build = `'npm run postinstall' in ${facts.clone}`;
  if (missing.length === 0) return `run ${build}, which shows why the build fails, then start again`;
  return `${installLine(facts, missing) ?? `install ${missing.join(", ")}`}, then ${build}, then start again`;
}

function adviseOnRight(facts: RawSocketFacts): string {
  const { status, programs, node } = facts;
  // execve(2): a file's capabilities count neither under no_new_privs nor beyond the bounding set, and with the latter
  // the program does not even start.
  if (!hasNetRaw(status, "CapBnd"))
    return "allow it where this container or service is defined (docker: --cap-add=NET_RAW; systemd: CAP_NET_RAW in CapabilityBoundingSet= and AmbientCapabilities=)";
  if (/^NoNewPrivs:\s*1$/m.test(status))
    return "start it from a service that gives the right (systemd: AmbientCapabilities=CAP_NET_RAW), since no_new_privs is set here";
  const first = programs.has("setcap") ? "" : `${installLine(facts, ["setcap"]) ?? "install setcap"}, then `;
  return `${first}${sudo(status)}setcap cap_net_raw+ep ${quoted(node)}, then start again (${COST})`;
}

function installLine({ programs, status }: RawSocketFacts, tools: readonly (keyof PackageManager["packages"])[]) {
  const manager = Object.entries(PACKAGE_MANAGERS).find(([name]) => programs.has(name))?.[1];
  if (manager === undefined) return null;
  return `${sudo(status)}${manager.install} ${tools.map((tool) => manager.packages[tool]).join(" ")}`;
}

/** What a command for the administrator begins with: nothing where this is root. */
function sudo(status: string): string {
  return /^Uid:\s+\d+\s+0\b/m.test(status) ? "" : "sudo ";
}

/** Whether a capability set of /proc/<pid>/status has CAP_NET_RAW. */
function hasNetRaw(status: string, set: "CapEff" | "CapBnd"): boolean {
  const value = status.split("\n").find((line) => line.startsWith(`${set}:`));
  const bits = value?.slice(set.length + 1).trim();
  return bits !== undefined && /^[0-9a-f]{1,16}$/.test(bits) && ((BigInt(`0x${bits}`) >> CAP_NET_RAW) & 1n) === 1n;
}
