import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { LAB } from "#test/lab/topology.ts";
import { SOON, startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

describe.skipIf(why !== null)("monitors that talk to a server over the network", () => {
  let lab: WatchedLab;
  beforeAll(async () => {
    lab = await startWatchedLab();
  });
  afterAll(() => lab?.close());

  it("hear the greeting of a mail server from everywhere, and are down while its link is cut", async () => {
    const url = `${addressOf(LAB, "smtp-plain")}:25`;
    const id = await lab.watch(url, { check_type: "tcp", tcp: { preset: "smtp" } });
    const checks = await lab.checks(id, new Date(0));
    expect(new Set(checks.map(({ status }) => status))).toEqual(new Set(["up"]));
    await lab.network.links.set("svc", { down: true });
    await lab.run(id);
    await expect.poll(async () => (await lab.read(id)).status, SOON).toBe("down");
    const [incident] = await lab.incidents(id);
    console.log(incident?.cause.message);
    expect(incident?.cause.message).toMatch(/\(port 25\)$/);
    await lab.network.links.reset("svc");
    await lab.run(id);
    await expect.poll(async () => (await lab.read(id)).status, SOON).toBe("up");
  });
});
