import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import type { Daemon } from "#test/lab/services/daemon.ts";
import { PLACES, startAgent } from "#test/lab/services/product.ts";
import { LAB } from "#test/lab/topology.ts";
import { EVERYWHERE, SOON, startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

/** Planned checks of it confirm no outage while a test waits for one. */
const SELDOM = { interval_minutes: 60 };
const TIMEOUT_SECONDS = 2;
const TWIN = "us-west";

describe.skipIf(why !== null)("monitors of a service with probes in four locations", () => {
  let lab: WatchedLab;
  let refusing: Daemon;
  let hanging: Daemon;
  /** Monitors: of a server that will refuse, one that will hang, and one that will be cut off, twice. */
  let refused = 0;
  let hung = 0;
  let far = 0;
  let even = 0;

  beforeAll(async () => {
    lab = await startWatchedLab();
    const { service, names, web } = lab;
    const files = { trustAnchorFile: names.trustAnchorFile, rootFile: web.rootFile };
    // In the node of us-east: what cuts one off, cuts off both.
    await startAgent(lab.network, "us", service.planes, files, {}, { ...PLACES.us, region: TWIN });
    [refusing, hanging] = await Promise.all([lab.serve("web", 8001), lab.serve("web", 8002), lab.serve("svc", 8003)]);
    const [site, distant] = [`http://${addressOf(LAB, "web")}`, `http://${addressOf(LAB, "svc")}`];
    [refused, hung, far, even] = await Promise.all([
      lab.watch(`${site}:8001/`, SELDOM),
      lab.watch(`${site}:8002/`, { ...SELDOM, timeout_seconds: TIMEOUT_SECONDS }),
      lab.watch(`${distant}:8003/`, { timeout_seconds: TIMEOUT_SECONDS }),
      lab.watch(`${distant}:8003/`, { timeout_seconds: TIMEOUT_SECONDS, locations: [...EVERYWHERE, TWIN] }),
    ]);
    // The tests of one and two failing locations need the planned checks of a minute: it begins here.
    await lab.network.cut("probe-us", "svc");
    await Promise.all([lab.run(far), lab.run(even)]);
  });
  afterAll(() => lab?.close());

  /** Waits for the outage. Returns whether its change of status is one transaction with its check and its event. */
  async function confirmed(id: number, code: string): Promise<boolean> {
    await expect.poll(async () => (await lab.read(id)).status, SOON).toBe("down");
    const [incident, ...others] = await lab.incidents(id);
    console.log(`${code}: ${incident?.cause.message}`);
    expect(others).toEqual([]);
    expect(incident?.cause.code).toBe(code);
    for (const place of EVERYWHERE) expect(incident?.cause.message).toContain(place);
    expect(await lab.events(id)).toEqual(["monitor.down"]);
    return lab.isOneTransaction(id);
  }

  it("are down before the next planned check if the target refuses connections", async () => {
    await refusing.stop();
    await lab.run(refused);
    expect(await confirmed(refused, "connect_refused")).toBe(true);
  });

  it("are down before the next planned check if the target hangs", async () => {
    hanging.kill("SIGSTOP");
    await lab.run(hung);
    expect(await confirmed(hung, "timeout")).toBe(true);
    hanging.kill("SIGCONT");
  });

  it("stay up if one of three locations cannot reach the target, which becomes an advisory", async () => {
    // The third failure in a row is that of the planned check, at most a minute after the first.
    await expect.poll(async () => (await lab.read(far)).advisory?.locations, SOON).toEqual([PLACES.us.region]);
    const { status, advisory } = await lab.read(far);
    console.log(`one of three: ${status}. ${advisory?.message}`);
    expect(status).toBe("up");
    expect(await lab.events(far)).toEqual(["monitor.advisory"]);
    expect(await lab.incidents(far)).toEqual([]);
  });

  it("change nothing while two locations of four cannot reach the target", async () => {
    await expect.poll(async () => (await lab.read(even)).advisory?.locations, SOON).toEqual([PLACES.us.region, TWIN]);
    // From the beginning: a first check can have begun before the cut and be lost to it.
    const checks = await lab.checks(even, new Date(0));
    const statuses = (location: string) => checks.filter((check) => check.location === location);
    for (const location of [PLACES.us.region, TWIN]) {
      expect(statuses(location).filter(({ status }) => status === "down").length).toBeGreaterThanOrEqual(3);
    }
    for (const location of [PLACES.eu.region, PLACES.ap.region]) {
      expect(new Set(statuses(location).map(({ status }) => status))).toEqual(new Set(["up"]));
    }
    expect((await lab.read(even)).status).toBe("up");
    expect(await lab.events(even)).toEqual(["monitor.advisory"]);
    expect(await lab.incidents(even)).toEqual([]);
    await lab.network.heal("probe-us", "svc");
  });

  it("are down while the link of the target is cut, and up after it is mended, in one incident", async () => {
    await lab.network.links.set("svc", { down: true });
    // Planned checks find it down: each location has one within a minute. A check on request was made a moment ago.
    await expect.poll(async () => (await lab.read(far)).status, SOON).toBe("down");
    const open = (await lab.incidents(far))[0];
    console.log(`link cut: ${open?.cause.message}`);
    // Two of three are a quorum: the third can still be waiting for its next check.
    const named = EVERYWHERE.filter((place) => open?.cause.message.includes(place));
    expect(named.length).toBeGreaterThanOrEqual(2);
    await lab.network.links.reset("svc");
    await expect.poll(async () => (await lab.read(far)).status, SOON).toBe("up");
    const incidents = await lab.incidents(far);
    expect(incidents).toHaveLength(1);
    expect(incidents[0]).toMatchObject({ status: "resolved", cause: { code: open?.cause.code } });
    expect(await lab.events(far)).toEqual(["monitor.advisory", "monitor.down", "monitor.up"]);
  });
});
