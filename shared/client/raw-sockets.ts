import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLONE } from "#shared/client/programs.ts";
import { quoted } from "#shared/text/quoted.ts";

/** Facts that decide whether this machine's agent can open raw sockets, and which remedy applies if it cannot. */
export interface RawSocketFacts {
  /** Whether the compiled addon exists. */
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
interface RawSocketProblem {
  readonly why: string;
  readonly todo: string;
}

/** Bit of CAP_NET_RAW in a capability set (linux/capability.h). */
const CAP_NET_RAW = 13n;
const ADDON = fileURLToPath(new URL("../../node_modules/raw-socket/build/Release/raw.node", import.meta.url));
/** Directories of administration programs; a user's PATH may lack them. */
const SYSTEM_PATH = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/** Programs that node-gyp runs to build the addon. */
const BUILD_TOOLS = ["g++", "make", "python3"] as const;

/**
 * The side effects of setcap. Node.js ignores its NODE_* variables if its file has capabilities (measured with 24.21:
 * NODE_EXTRA_CA_CERTS has no effect).
 */
const COST =
  "every user who can run that file gets the capability, and Node.js then ignores NODE_EXTRA_CA_CERTS; deploy/systemd/vantage-agent.service grants it to the agent only";

interface PackageManager {
  readonly install: string;
  readonly packages: Readonly<Record<(typeof BUILD_TOOLS)[number] | "setcap", string>>;
}

/** Package managers by program name, and the packages of Debian, Fedora, openSUSE and Arch that contain each tool. */
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

/** Reads the facts of this machine and process. `searchPath`: the directories in which programs are searched. */
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

/** Returns the reason why raw sockets are unavailable, with its remedy; null if these facts show none. */
export function findRawSocketProblem(facts: RawSocketFacts): RawSocketProblem | null {
  if (!facts.hasAddon) return { why: "the raw-socket addon is not built", todo: adviseOnAddon(facts) };
  if (hasNetRaw(facts.status, "CapEff")) return null;
  return { why: "the agent lacks the capability to open raw sockets (CAP_NET_RAW)", todo: adviseOnRight(facts) };
}

function adviseOnAddon(facts: RawSocketFacts): string {
  const missing = BUILD_TOOLS.filter((tool) => !facts.programs.has(tool));
  const build = `'npm run postinstall' in ${facts.clone}`;
  if (missing.length === 0) return `run ${build}, which shows why the build fails, then restart`;
  return `${installLine(facts, missing) ?? `install ${missing.join(", ")}`}, then ${build}, then restart`;
}

function adviseOnRight(facts: RawSocketFacts): string {
  const { status, programs, node } = facts;
  // execve(2): no_new_privs disables a file's capabilities; a capability outside the bounding set prevents the start.
  if (!hasNetRaw(status, "CapBnd"))
    return "grant it in the definition of this container or service (docker: --cap-add=NET_RAW; systemd: CAP_NET_RAW in CapabilityBoundingSet= and AmbientCapabilities=)";
  if (/^NoNewPrivs:\s*1$/m.test(status))
    return "start the agent from a service that grants the capability (systemd: AmbientCapabilities=CAP_NET_RAW): no_new_privs is set here";
  const first = programs.has("setcap") ? "" : `${installLine(facts, ["setcap"]) ?? "install setcap"}, then `;
  return `${first}${sudo(status)}setcap cap_net_raw+ep ${quoted(node)}, then restart (${COST})`;
}

function installLine({ programs, status }: RawSocketFacts, tools: readonly (keyof PackageManager["packages"])[]) {
  const manager = Object.entries(PACKAGE_MANAGERS).find(([name]) => programs.has(name))?.[1];
  if (manager === undefined) return null;
  return `${sudo(status)}${manager.install} ${tools.map((tool) => manager.packages[tool]).join(" ")}`;
}

/** Returns the prefix of a privileged command: empty if this process runs as root. */
function sudo(status: string): string {
  return /^Uid:\s+\d+\s+0\b/m.test(status) ? "" : "sudo ";
}

/** Reports whether a capability set of /proc/<pid>/status contains CAP_NET_RAW. */
function hasNetRaw(status: string, set: "CapEff" | "CapBnd"): boolean {
  const value = status.split("\n").find((line) => line.startsWith(`${set}:`));
  const bits = value?.slice(set.length + 1).trim();
  return bits !== undefined && /^[0-9a-f]{1,16}$/.test(bits) && ((BigInt(`0x${bits}`) >> CAP_NET_RAW) & 1n) === 1n;
}
