import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf, interfaces } from "#test/lab/addresses.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { packetFilter } from "#test/lab/configure.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { expectedHops, expectedRtt } from "#test/lab/paths.ts";
import { PLACES, startAgent } from "#test/lab/services/product.ts";
import { GEO_ANSWERS, SYSTEMS } from "#test/lab/services/zones.ts";
import { LAB, REGIONS, type Region } from "#test/lab/topology.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";
import { until } from "#test/support/until.ts";

const why = whyNoLab() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

/** A row of `locations` with the result of a tool. */
interface Place<T> {
  readonly location: { readonly region: string };
  readonly status: string;
  readonly data: T;
  readonly error: { readonly stage: string; readonly reason: string };
}

const ALL = REGIONS.map((region) => PLACES[region].region).join(",");
/** Longer than a dead stream counts as alive, on a busy machine. */
const SOON = { interval: 500 };

describe.skipIf(why !== null)("the service in the lab", () => {
  let lab: Lab & { readonly service: Service };
  let key = "";
  beforeAll(async () => {
    lab = await startServiceLab({ hubs: ["hub", "hub2"] });
    key = await lab.service.plane.createKey();
  });
  afterAll(() => lab?.close());

  /** Runs a tool in the given locations and returns its results by region. */
  async function check<T>(path: string, places = ALL): Promise<ReadonlyMap<Region, Place<T>>> {
    const { text, status, body } = await lab.service.plane.call(`/api/v4/${path}&locations=${places}`, { key });
    expect(status, text).toBe(200);
    const rows = (body.data as { readonly locations: readonly Place<T>[] }).locations;
    return new Map(
      REGIONS.flatMap((region) => {
        const row = rows.find(({ location }) => location.region === PLACES[region].region);
        return row === undefined ? [] : [[region, row]];
      }),
    );
  }

  async function checkFrom<T>(region: Region, path: string): Promise<Place<T>> {
    const row = (await check<T>(path, PLACES[region].region)).get(region);
    if (row === undefined) throw new Error(`no row of ${region}`);
    return row;
  }

  it("measures the distance of each region", async () => {
    const least = new Map<Region, number>(REGIONS.map((region) => [region, Infinity]));
    const expected = (region: Region) => expectedRtt(LAB, `probe-${region}`, "web");
    // A busy machine delays packets, but not in every attempt; it never makes an echo too fast.
    await until(async () => {
      const rows = await check<{ rtt: { min_ms: number } }>("ping?host=web.lab.test");
      for (const [region, { data }] of rows) least.set(region, Math.min(least.get(region) ?? 0, data.rtt.min_ms));
      return [...least].every(([region, ms]) => ms < expected(region).max + 5);
    }, "the distance of each region");
    for (const [region, ms] of least) expect(ms).toBeGreaterThanOrEqual(expected(region).min);
  });

  it("returns for each region the answer meant for it", async () => {
    const rows = await check<{ records: { A: string[] } }>("dns?domain=geo.test&types=A");
    for (const [region, { data }] of rows) expect(data.records.A).toEqual([GEO_ANSWERS[region]]);
  });

  it("traces the path of the table, with name and system of every hop", async () => {
    type Reply = { ip: string | null; hostname: string | null; asn: number | null };
    const { data } = await checkFrom<{ hops: { replies: Reply[] }[] }>(
      "eu",
      "ping?host=long.lab.test&action=traceroute",
    );
    const expected = expectedHops(LAB, "probe-eu", "long");
    expect(data.hops).toHaveLength(expected.length);
    for (const [index, { replies }] of data.hops.entries()) {
      const [reply] = replies;
      expect(expected[index]).toContain(reply?.ip);
      expect(reply?.hostname).toBe(interfaces(LAB).find(({ ip }) => ip[4] === reply?.ip)?.ptr);
      expect(SYSTEMS.map(({ asn }) => asn as number)).toContain(reply?.asn);
    }
  });

  it.each([
    ["signed", "secure"],
    ["nsec3", "secure"],
    ["unsigned", "insecure"],
    ["bogus", "bogus"],
    ["expired", "bogus"],
  ])("reports the %s zone as %s, with the lab's own root", async (zone, status) => {
    const row = await checkFrom<{ dnssec: { status: string } }>("eu", `dns?domain=www.${zone}.test&types=A&dnssec=1`);
    expect(row.data.dnssec.status).toBe(status);
  });

  it.each([
    ["good", null],
    ["expiring-soon", null],
    ["wrong-order", null],
    ["tls13-only", null],
    ["tls10-only", null],
    ["expired", "expired"],
    ["not-yet-valid", "not_yet_valid"],
    ["self-signed", "self_signed"],
    ["wrong-host", "hostname_mismatch"],
    ["missing-intermediate", "missing_intermediate"],
    ["unknown-issuer", "untrusted_root"],
    ["cross-signed", null],
    ["untrusted-root", "untrusted_root"],
    ["sha1", "weak_signature"],
    ["rsa1024", "weak_key"],
  ])("reports the certificate %s: %s", async (variant, word) => {
    const { data } = await checkFrom<{ trust_error: string | null }>("eu", `ssl?host=${variant}.tls.test`);
    expect(data.trust_error).toBe(word);
  });

  it.each([
    ["plain-text", "tls", "plain_text"],
    ["hanging", "tls", "timeout"],
    ["reset", "tls", "reset"],
    ["filtered", "connect", "timeout"],
  ])("reports what is wrong with %s: %s, %s", async (variant, stage, reason) => {
    const { error } = await checkFrom<never>("us", `ssl?host=${variant}.tls.test`);
    expect(error).toMatchObject({ stage, reason });
  });

  it("verifies pages with the lab's authority", async () => {
    const { status, data } = await checkFrom<{ code: number }>("ap", "check?url=https://web.lab.test/");
    expect(status).toBe("ok");
    expect(data.code).toBe(200);
  });

  it("sends nothing to the lab if the operator has allowed nothing", async () => {
    const { network, names, web, service } = lab;
    const sources = ([4, 6] as const).map((family) => addressOf(LAB, "probe-us", family));
    const rules = [`ip saddr ${sources[0]} counter`, `ip6 saddr ${sources[1]} counter`];
    await network.nft("sentinel", packetFilter("watch", "input", rules));
    const reached = async (): Promise<number> => {
      const { stdout } = await network.run("sentinel", ["nft", "list", "table", "inet", "watch"]);
      return Array.from(stdout.matchAll(/packets (\d+)/g), ([, count]) => Number(count)).reduce((sum, n) => sum + n, 0);
    };
    const closed = { VANTAGE_ALLOW_TARGETS: "", VANTAGE_ALLOW_NAMES: "" };
    const place = { ...PLACES.us, region: "guarded" };
    const guarded = await startAgent(
      network,
      "us",
      service.planes,
      { trustAnchorFile: names.trustAnchorFile, rootFile: web.rootFile },
      closed,
      place,
    );
    const host = addressOf(LAB, "sentinel");
    const paths = [
      `ping?host=${host}`,
      `ping?host=${addressOf(LAB, "sentinel", 6)}`,
      "ping?host=sentinel.lab.test",
      `ping?host=${host}&action=traceroute`,
      `ping?host=${host}&action=ports&ports=80`,
      `check?url=http://${host}/`,
      "check?url=http://sentinel.lab.test/",
      `ssl?host=${host}`,
      `ssl?host=sentinel.lab.test`,
    ];
    for (const path of paths) {
      const { text } = await service.plane.call(`/api/v4/${path}&locations=guarded`, { key });
      expect(text, path).toContain("target_not_allowed");
    }
    expect(await reached()).toBe(0);
    // The same from an agent that is allowed to, which proves that the counter works.
    await checkFrom("us", `ping?host=${host}&count=1`);
    expect(await reached()).toBeGreaterThan(0);
    await guarded.stop();
  });

  it("continues in the other regions while one is cut off, and in all once it is back", async () => {
    const online = async (): Promise<number> => {
      const { body } = await lab.service.plane.call("/api/v4/probes", { key });
      const { regions } = body.data as { regions: { region: string; online: number }[] };
      return regions.find(({ region }) => region === PLACES.eu.region)?.online ?? 0;
    };
    await expect.poll(online, SOON).toBe(1);
    await Promise.all([lab.network.cut("probe-eu", "hub"), lab.network.cut("probe-eu", "hub2")]);
    await expect.poll(online, SOON).toBe(0);
    const others = await check<unknown>("ping?host=web.lab.test", `${PLACES.us.region},${PLACES.ap.region}`);
    expect([...others.values()].map(({ status }) => status)).toEqual(["ok", "ok"]);
    await Promise.all([lab.network.heal("probe-eu", "hub"), lab.network.heal("probe-eu", "hub2")]);
    await expect.poll(online, SOON).toBe(1);
    // The agent may attach to the other replica first. This one then answers 503 and asks for a retry.
    const path = `ping?host=${addressOf(LAB, "web")}&count=1`;
    const back = async () => (await checkFrom<{ packets_received: number }>("eu", path)).status;
    await expect.poll(back, SOON).toBe("ok");
  });

  it("answers through the other replica after the first one has ended", async () => {
    const [first, second] = lab.service.planes;
    if (first === undefined || second === undefined) throw new Error("two replicas were asked for");
    first.daemon.kill("SIGKILL");
    await first.daemon.exited;
    for (const region of REGIONS) {
      const path = `/api/v4/ping?host=web.lab.test&count=1&locations=${PLACES[region].region}`;
      const answered = async (): Promise<string | undefined> => {
        const { body } = await second.call(path, { key });
        return (body.data as { locations?: readonly Place<unknown>[] } | undefined)?.locations?.[0]?.status;
      };
      await expect.poll(answered, SOON).toBe("ok");
    }
  });
});
