import { describe, expect, it } from "vitest";
import { addressOf, aliases, interfaces } from "#test/lab/addresses.ts";
import { creationLines, nodeScripts } from "#test/lab/configure.ts";
import { expectedHops, expectedRtt, pathOf, routes } from "#test/lab/paths.ts";
import { LAB, REGIONS, type Topology } from "#test/lab/topology.ts";

const hosts = Object.keys(LAB.nodes).filter((node) => LAB.nodes[node]?.kind === "host");

/** Two probes and a target around a square of routers, with two equal paths. */
const SQUARE: Topology = {
  nodes: {
    probe: { kind: "host" },
    near: { kind: "router" },
    left: { kind: "router" },
    right: { kind: "router" },
    end: { kind: "router" },
    target: { kind: "host", also: ["second"] },
  },
  wans: {
    one: { a: "near", b: "left", delayMs: 1 },
    two: { a: "near", b: "right", delayMs: 1 },
    three: { a: "left", b: "end", delayMs: 2, jitterMs: 3 },
    four: { a: "right", b: "end", delayMs: 2 },
  },
  lans: { home: { router: "near", hosts: ["probe"] }, away: { router: "end", hosts: ["target"] } },
};

describe("the addresses of a topology", () => {
  it("follow the rule and are all different", () => {
    expect(addressOf(SQUARE, "probe")).toBe("198.19.1.10");
    expect(addressOf(SQUARE, "target", 6)).toBe("2001:db8:19:2::10");
    expect(addressOf(SQUARE, "second")).toBe("198.19.2.20");
    expect(addressOf(SQUARE, "left")).toBe("198.18.1.2");
    const all = [...interfaces(LAB), ...aliases(LAB)].flatMap(({ ip }) => [ip[4], ip[6]]);
    expect(new Set(all).size).toBe(all.length);
  });

  it("are in the ranges that the lab is allowed to use", () => {
    const ranges = /^(198\.(18|19)\.|198\.51\.100\.|203\.0\.113\.|2001:db8:)/;
    for (const { ip } of [...interfaces(LAB), ...aliases(LAB)]) {
      expect(ip[4]).toMatch(ranges);
      expect(ip[6]).toMatch(ranges);
    }
  });

  it("have separate names", () => {
    const names = [...interfaces(LAB), ...aliases(LAB)].map(({ ptr }) => ptr);
    expect(new Set(names).size).toBe(names.length);
    expect(interfaces(SQUARE).find(({ ip }) => ip[4] === "198.18.1.2")?.ptr).toBe("to-near.left.lab.test");
  });
});

describe("the paths of a topology", () => {
  it("are all equal paths", () => {
    const towards = routes(SQUARE).filter(
      ({ node, destination }) => node === "near" && destination === "198.19.2.0/24",
    );
    expect(towards).toEqual([
      { node: "near", family: 4, destination: "198.19.2.0/24", via: ["198.18.1.2", "198.18.2.2"] },
    ]);
    expect(expectedHops(SQUARE, "probe", "target")).toEqual([
      ["198.19.1.1"],
      ["198.18.1.2", "198.18.2.2"],
      ["198.18.3.2", "198.18.4.2"],
      ["198.19.2.10"],
    ]);
    expect(expectedHops(SQUARE, "probe", "second", 6).at(-1)).toEqual(["2001:db8:19:2::20"]);
  });

  it("take the time of their links, in both directions", () => {
    expect(expectedRtt(SQUARE, "probe", "target")).toEqual({ min: 6, max: 12 });
    expect(expectedRtt(LAB, "probe-eu", "web")).toEqual({ min: 7, max: 7 });
    expect(expectedRtt(LAB, "probe-eu", "resolver-eu")).toEqual({ min: 0, max: 0 });
    const { min } = expectedRtt(LAB, "probe-us", "slow");
    // 84 octets at 1 Mbit/s take 0.672 ms, there and back.
    expect(min).toBeCloseTo(2 * (21 + 1 + 1 + 2) + 2 * 0.672);
  });

  it("connect every two hosts, with the same path back", () => {
    for (const from of hosts) {
      for (const to of hosts.filter((node) => node !== from)) {
        expect(pathOf(LAB, from, to).length).toBe(pathOf(LAB, to, from).length);
        expect(expectedHops(LAB, from, to).length).toBe(pathOf(LAB, from, to).length);
      }
    }
  });

  it("include one of eight hops, and one with a silent router", () => {
    for (const region of REGIONS) {
      expect(expectedHops(LAB, `probe-${region}`, "long")).toHaveLength(8);
      expect(expectedHops(LAB, `probe-${region}`, "far").map((hop) => hop.length)).toEqual([1, 1, 2, 2, 0, 1, 1, 1]);
    }
  });

  it("leave hosts one default route in each family", () => {
    for (const node of hosts) {
      expect(routes(LAB).filter((route) => route.node === node)).toMatchObject([
        { family: 4, destination: "default" },
        { family: 6, destination: "default" },
      ]);
    }
  });
});

describe("the configuration of a topology", () => {
  it("has addresses for equal IPv6 paths, because the kernel refuses them by device only", () => {
    expect(nodeScripts(SQUARE).get("near")).toContain(
      "route add 2001:db8:19:2::/64 nexthop via 2001:db8:18:1::2 nexthop via 2001:db8:18:2::2",
    );
  });

  it("creates a namespace for each node, and cables only inside namespaces", () => {
    const lines = creationLines(SQUARE, (node) => `run-${node}`);
    expect(lines.filter((line) => line.startsWith("netns add"))).toHaveLength(6);
    expect(lines).toContain("link add eth0 netns run-probe type veth peer name port0 netns run-near");
  });

  it("keeps the rate limit of errors in one router only", () => {
    const limited = [...nodeScripts(LAB)].filter(([, script]) => !script.includes("icmp_ratelimit"));
    expect(limited.map(([node]) => node)).toEqual(["limited"]);
  });
});
