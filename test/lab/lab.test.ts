import { existsSync, mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf, aliases, interfaces, type Family } from "#test/lab/addresses.ts";
import { inTurns } from "#test/lab/driver.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { ipBatch, listNamespaces, processesIn, runName, sweep, whyNoLab } from "#test/lab/namespaces.ts";
import { expectedHops, expectedRtt } from "#test/lab/paths.ts";
import { GEO_ANSWERS, MANY_TEXTS, STALE_SERIALS } from "#test/lab/services/zones.ts";
import { LAB, REGIONS } from "#test/lab/topology.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

const AT_ONCE = 6;
const PROBES = REGIONS.map((region) => `probe-${region}`);
const HOSTS = Object.keys(LAB.nodes).filter((node) => LAB.nodes[node]?.kind === "host");

describe.skipIf(why !== null)("the lab", () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab?.close());

  const output = async (node: string, ...command: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await lab.network.run(node, command);
    return stdout + stderr;
  };
  const resolver = (region: string): string => addressOf(LAB, `resolver-${region}`);
  const ask = (region: string, ...question: readonly string[]): Promise<string> =>
    output(`probe-${region}`, "dig", "+tries=2", "+time=4", `@${resolver(region)}`, ...question);

  it("connects every two hosts in the time that its table says", async () => {
    const pairs = HOSTS.flatMap((from) =>
      HOSTS.filter((to) => to !== from).map((to) => ({ from, to, family: 4 as Family })),
    );
    const alsoIpv6 = pairs
      .filter(({ from }) => PROBES.includes(from))
      .map((pair) => ({ ...pair, family: 6 as Family }));
    const wrong = await inTurns([...pairs, ...alsoIpv6], AT_ONCE, async (pair) => {
      // A busy machine delays packets; it never makes them faster, and does not delay five times in a row.
      let said = "";
      for (let attempt = 0; attempt < 3; attempt += 1) {
        said = await pingProblem(pair);
        if (said === "") break;
      }
      return said === "" ? null : pair;
    });
    // What is left was measured beside many others, and is measured again, one after the other.
    const left: string[] = [];
    for (const pair of wrong.filter((one) => one !== null)) {
      let said = await pingProblem(pair);
      for (let attempt = 0; attempt < 10 && said !== ""; attempt += 1) {
        await sleep(200);
        said = await pingProblem(pair);
      }
      if (said !== "") left.push(said);
    }
    expect(left).toEqual([]);
  });

  async function pingProblem({ from, to, family }: { from: string; to: string; family: Family }): Promise<string> {
    const said = await output(from, "ping", "-q", "-c", "5", "-i", "0.01", "-W", "1", addressOf(LAB, to, family));
    const least = Number(/= ([\d.]+)\//.exec(said)?.[1] ?? Number.NaN);
    const { min, max } = expectedRtt(LAB, from, to, family === 4 ? 84 : 104);
    // Five packets at the same time over 1 Mbit/s wait for each other; the first does not.
    const fits = least >= min && least <= max + 1;
    return fits ? "" : `${from} to ${to} over IPv${family}: ${least} ms, expected ${min} to ${max + 1}: ${said}`;
  }

  it("has the hops of its table, in both families", async () => {
    const traces = PROBES.flatMap((from) =>
      HOSTS.filter((to) => to !== from).flatMap((to) => [
        { from, to, family: 4 } as const,
        { from, to, family: 6 } as const,
      ]),
    );
    const wrong = await inTurns(traces, AT_ONCE, async ({ from, to, family }) => {
      const target = addressOf(LAB, to, family);
      const options = [`-${family}`, "-n", "-I", "-q", "3", "-N", "8", "-w", "1", "-m", "12"];
      const seen = readHops(await output(from, "traceroute", ...options, target));
      const expected = expectedHops(LAB, from, to, family);
      const fits =
        seen.length === expected.length &&
        expected.every((allowed, index) => {
          const answered = seen[index] ?? [];
          return allowed.length === 0
            ? answered.length === 0
            : answered.length > 0 && answered.every((ip) => allowed.includes(ip));
        });
      return fits
        ? []
        : [`${from} to ${to} over IPv${family}: ${JSON.stringify(seen)}, expected ${JSON.stringify(expected)}`];
    });
    expect(wrong.flat()).toEqual([]);
  });

  it("has two equal paths through its core: varying ports find both, constant ones stay on one", async () => {
    const both = expectedHops(LAB, "probe-eu", "web")[2] ?? [];
    const third = ["traceroute", "-n", "-f", "3", "-m", "3", "-q", "10", "-w", "1"];
    const varied = await output("probe-eu", ...third, addressOf(LAB, "web"));
    expect(readHops(varied)[0]?.toSorted()).toEqual(both.toSorted());
    const fixed = await output("probe-eu", ...third, "-U", "-p", "33434", "--sport=40000", addressOf(LAB, "web"));
    expect(readHops(fixed)[0]).toHaveLength(1);
  });

  it("rejects packets that are too big for the strait and reports its MTU", async () => {
    const said = await output(
      "probe-eu",
      "ping",
      "-c",
      "1",
      "-M",
      "do",
      "-s",
      "1400",
      "-W",
      "1",
      addressOf(LAB, "far"),
    );
    expect(said).toMatch(/mtu ?= ?1400/);
  });

  it("loses, duplicates and counts packets exactly as configured, and can be changed while it runs", async () => {
    const { links } = lab.network;
    const every = ["ping", "-q", "-c", "8", "-i", "0.05", "-W", "1", addressOf(LAB, "every")];
    await links.reset("every");
    expect(await output("probe-eu", ...every)).toContain("8 packets transmitted, 6 received");
    expect(await links.count("every")).toEqual({ carried: 6, dropped: 2, duplicated: 0 });
    const twice = ["ping", "-q", "-c", "8", "-i", "0.05", "-W", "1", addressOf(LAB, "twice")];
    await links.reset("twice");
    // The second answer to the eighth echo request arrives after ping has ended.
    expect(await output("probe-eu", ...twice)).toContain("8 received, +3 duplicates");
    expect(await links.count("twice")).toEqual({ carried: 8, dropped: 0, duplicated: 4 });

    const web = ["ping", "-q", "-c", "2", "-i", "0.05", "-W", "1", addressOf(LAB, "web")];
    await links.set("web", { down: true });
    expect(await output("probe-eu", ...web)).toContain("100% packet loss");
    await links.set("web", { down: false, delayMs: 51 });
    expect(Number(/= ([\d.]+)\//.exec(await output("probe-eu", ...web))?.[1])).toBeGreaterThanOrEqual(107);
    await links.reset("web");
  });

  it("can cut two nodes from each other without an error to either, and heal the cut", async () => {
    const ping = ["ping", "-q", "-c", "2", "-i", "0.05", "-W", "1", addressOf(LAB, "hub")];
    await lab.network.cut("probe-eu", "hub");
    expect(await output("probe-eu", ...ping)).toContain("100% packet loss");
    expect(await output("probe-us", ...ping)).toContain(" 0% packet loss");
    await lab.network.heal("probe-eu", "hub");
    expect(await output("probe-eu", ...ping)).toContain(" 0% packet loss");
  });

  it.each(REGIONS)("resolves names in %s, signed or not, and rejects forged ones", async (region) => {
    const good = addressOf(LAB, "good");
    for (const zone of ["signed", "nsec3", "unsigned", "half-lame"]) {
      const said = await ask(region, "+dnssec", `www.${zone}.test`);
      expect(said).toContain(`\tA\t${good}`);
      expect(/flags: [^;]*\bad\b/.test(said)).toBe(zone === "signed" || zone === "nsec3");
    }
    await lab.resolvers.flush("bogus.test");
    await lab.resolvers.flush("expired.test");
    expect(await ask(region, "www.bogus.test")).toMatch(/SERVFAIL[\s\S]*EDE: 9/);
    expect(await ask(region, "www.expired.test")).toMatch(/SERVFAIL[\s\S]*EDE: 7/);
    expect(await ask(region, "+short", "geo.test")).toBe(`${GEO_ANSWERS[region]}\n`);
    expect(await ask(region, "no-such-name.signed.test")).toContain("NXDOMAIN");
  });

  it("is secure or bogus to another validator, with the exported trust anchor", async () => {
    const delv = (name: string): Promise<string> =>
      output("probe-eu", "delv", "+cd", "+root=.", "-a", lab.names.delvAnchorFile, `@${resolver("eu")}`, name);
    expect(await delv("www.signed.test")).toContain("; fully validated");
    expect(await delv("www.nsec3.test")).toContain("; fully validated");
    expect(await delv("www.unsigned.test")).toContain("; unsigned answer");
    expect(await delv("www.bogus.test")).toContain("broken trust chain");
    expect(await delv("www.expired.test")).toContain("RRSIG has expired");
  });

  it("has the special zones: lame, dead, looping, large, stale", async () => {
    expect(await ask("eu", "www.lame.test")).toContain("SERVFAIL");
    expect(
      await output("probe-eu", "dig", "+tries=1", "+time=1", `@${addressOf(LAB, "dns-dead")}`, "x.dead.test"),
    ).toContain("timed out");
    expect(await output("probe-eu", "dig", `@${addressOf(LAB, "dns-lame")}`, "www.lame.test")).toContain("REFUSED");
    expect(await ask("eu", "loop-1.unsigned.test")).toMatch(/SERVFAIL|loop-2/);
    const many = await output(
      "probe-eu",
      "dig",
      "+ignore",
      `@${addressOf(LAB, "dns-ns1")}`,
      "many.unsigned.test",
      "TXT",
    );
    expect(many).toMatch(/flags: [^;]*\btc\b/);
    expect(await ask("eu", "many.unsigned.test", "TXT")).toContain(`ANSWER: ${MANY_TEXTS}`);
    for (const [server, serial] of Object.entries(STALE_SERIALS)) {
      expect(await output("probe-eu", "dig", "+short", `@${addressOf(LAB, server)}`, "stale.test", "SOA")).toContain(
        `${serial}`,
      );
    }
  });

  it("has a PTR name for every interface, and AS numbers for its networks", async () => {
    const all = [...interfaces(LAB), ...aliases(LAB)].flatMap(({ ip, ptr }) =>
      [4, 6].map((family) => ({ ip: ip[family as Family], ptr })),
    );
    const said = await output(
      "resolver-eu",
      "dig",
      "+short",
      `@${resolver("eu")}`,
      ...all.flatMap(({ ip }) => ["-x", ip]),
    );
    expect(said.trim().split("\n")).toEqual(all.map(({ ptr }) => `${ptr}.`));
    expect(await ask("eu", "+short", "20.100.51.198.origin.cymru.test", "TXT")).toContain("64510 | 198.51.100.0/24");
    expect(await ask("eu", "+short", "AS64501.asn.cymru.test", "TXT")).toContain("LAB-EU");
  });

  it("serves the web: HTTP, HTTPS, and certificates with faults", async () => {
    const curl = async (variant: string): Promise<number | null> => {
      const name = `${variant}.tls.test`;
      const at = `${name}:443:${addressOf(LAB, variant)}`;
      const options = ["-sS", "-m", "2", "--cacert", lab.web.rootFile, "--resolve", at];
      return (await lab.network.run("probe-eu", ["curl", ...options, `https://${name}/`])).code;
    };
    const resolved = `web.lab.test:80:[${addressOf(LAB, "web", 6)}]`;
    expect(await output("probe-us", "curl", "-sS", "--resolve", resolved, "http://web.lab.test/")).toContain(
      "Test page",
    );
    expect(await curl("good")).toBe(0);
    // curl: 60 certificate, 28 timeout, 35 no handshake.
    for (const variant of [
      "expired",
      "not-yet-valid",
      "self-signed",
      "wrong-host",
      "missing-intermediate",
      "unknown-issuer",
      "cross-signed",
      "untrusted-root",
    ]) {
      expect(await curl(variant), variant).toBe(60);
    }
    expect(await curl("hanging")).toBe(28);
    expect(await curl("filtered")).toBe(28);
    expect(await curl("reset")).toBe(35);
    expect(await curl("plain-text")).toBe(35);
  });

  it("leaves nothing behind, and removes what a dead run left, but nothing of a running one", async () => {
    const { folder } = lab.network;
    const namespace = (node: string): string => lab.network.namespace(node);
    expect(processesIn([namespace("web")]).length).toBeGreaterThan(0);
    const dead = "vantage-lab-4194304-1-node";
    await ipBatch([`netns add ${dead}`]);
    mkdirSync(`/etc/netns/${dead}`, { recursive: true });
    await sweep();
    expect(listNamespaces()).not.toContain(dead);
    expect(existsSync(`/etc/netns/${dead}`)).toBe(false);
    expect(listNamespaces(runName())).toHaveLength(Object.keys(LAB.nodes).length);

    const inside = processesIn(listNamespaces(runName()));
    expect(inside.length).toBeGreaterThan(0);
    await lab.close();
    expect(listNamespaces(runName())).toEqual([]);
    expect(existsSync(folder)).toBe(false);
    await expect.poll(() => inside.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });
});

/** Returns the addresses that answered at each hop of a traceroute(8); none if it shows only stars. */
function readHops(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => /^ *\d+ /.test(line))
    .map((line) => [
      ...new Set(
        line
          .trim()
          .split(/\s+/)
          .slice(1)
          .filter((word) => /^[\da-f]+[.:][\da-f.:]+$/.test(word) && !/^\d+\.\d+$/.test(word)),
      ),
    ]);
}
