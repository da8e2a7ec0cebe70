import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { PLACES } from "#test/lab/services/product.ts";
import { REGIONS } from "#test/lab/topology.ts";
import { EVERYWHERE, isolate, reconnect, SOON, startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

interface Warning {
  readonly code: string;
  readonly message: string;
}

const INTERVAL_SECONDS = 20;
/** A verdict is fresh for two intervals and the timeout. The planned check after that finds it stale. */
const FRESH = { interval: 1_000 };

describe.skipIf(why !== null)("monitors whose probes lose everything but the control plane", () => {
  let lab: WatchedLab;
  let one = 0;
  let all = 0;
  beforeAll(async () => {
    // A target that only the allow lists permit counts as part of the probe's own network, so the name is not in them.
    lab = await startWatchedLab({ agentSettings: { VANTAGE_ALLOW_NAMES: "" }, intervalSeconds: INTERVAL_SECONDS });
    await lab.serve("web", 8001);
    const url = "http://web.lab.test:8001/";
    [one, all] = await Promise.all([lab.watch(url), lab.watch(url, { timeout_seconds: 1 })]);
  });
  afterAll(() => lab?.close());

  /** Returns what each location found since a time, each finding once. */
  async function findings(id: number, since: Date): Promise<Readonly<Record<string, readonly string[]>>> {
    const checks = await lab.checks(id, since);
    return Object.fromEntries(
      EVERYWHERE.map((place) => {
        const found = checks.filter(({ location }) => location === place);
        return [place, [...new Set(found.map(({ status, source }) => [status, source ?? ""].join(" ").trim()))]];
      }),
    );
  }

  it("stay up while it happens to one of three: its observations carry source probe", async () => {
    const since = new Date();
    await isolate(lab, "us");
    await lab.run(one);
    const expected = { [PLACES.eu.region]: ["up"], [PLACES.us.region]: ["unknown probe"], [PLACES.ap.region]: ["up"] };
    await expect.poll(() => findings(one, since), SOON).toEqual(expected);
    expect((await lab.read(one)).status).toBe("up");
    expect(await lab.events(one)).toEqual([]);
  });

  it("are unknown, and never down, while it happens to all; the operator is warned of it", async () => {
    const since = new Date();
    await Promise.all(REGIONS.filter((region) => region !== "us").map((region) => isolate(lab, region)));
    await lab.run(all);
    const everywhere = Object.fromEntries(EVERYWHERE.map((place) => [place, ["unknown probe"]]));
    await expect.poll(() => findings(all, since), SOON).toEqual(everywhere);
    await expect.poll(async () => (await lab.read(all)).status, FRESH).toBe("unknown");
    expect(await findings(all, since)).toEqual(everywhere);
    const statuses = await lab.query(`select distinct status from monitor_status_changes where monitor_id = ${all}`);
    expect(statuses).not.toContainEqual({ status: 2 });
    const readWarnings = async (): Promise<readonly Warning[]> =>
      (await lab.service.plane.call("/api/admin/warnings", { operator: true })).body.data;
    // Warnings follow at the next survey, which can be later than the status.
    await expect
      .poll(async () => (await readWarnings()).map(({ code }) => code), FRESH)
      .toEqual(["agents_failing", "agents_failing", "agents_failing"]);
    const warnings = await readWarnings();
    for (const { message } of warnings) console.log(message);
    for (const place of EVERYWHERE) expect(warnings.map(({ message }) => message).join("\n")).toContain(place);
    for (const id of [one, all]) {
      expect(await lab.events(id)).toEqual([]);
      expect(await lab.incidents(id)).toEqual([]);
    }
  });

  it("are up again without an event when the networks are back", async () => {
    await Promise.all(REGIONS.map((region) => reconnect(lab, region)));
    await expect.poll(async () => (await lab.read(all)).status, SOON).toBe("up");
    expect(await lab.events(all)).toEqual([]);
  });
});
