import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readBaselines } from "#control-plane/watching/evidence/gather.ts";
import { createNameServers } from "#control-plane/watching/evidence/baselines/name-servers.ts";
import { openEvidenceWorld } from "#test/control-plane/watching/evidence/world.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { createManualClock } from "#test/support/clock.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** A recorded answer of the tool dns. */
interface Example {
  readonly data: { readonly results: readonly object[] };
}

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-03-01T12:00:00Z");
const TARGET = "https://shop.example.com/";
const HTTP = { url: TARGET, checkType: "http" };

const world = await stopAfterAll(openEvidenceWorld());
const { data } = JSON.parse(readFileSync(`${ROOT}/shared/tools/dns/example.json`, "utf8")) as Example;
const record = { name: "example.com", ttl: 300, type: "NS", data: "ns1.example.net." };
const results = data.results.slice(0, 1).map((row) => ({ ...row, type: "NS", records: [record] }));
const lookup = { status: "ok", data: { ...data, results } } as const;
const replica = world.startReplica((job) => (job.tool === "dns" ? lookup : { status: "refused" }));
const accountId = await world.createAccount();
const [watched] = await world.open(accountId, [TARGET]);
const monitorId = watched?.monitor?.id ?? 0;

const whole = (code: number) => ({ ip: "192.0.2.1", code, final_url: TARGET });
const good = (at: number, code: number, target = TARGET, of = monitorId) =>
  replica.baselines.add({
    monitorId: of,
    location: "eu-west",
    accountId,
    checkType: "http",
    at,
    target,
    whole: whole(code),
  });
const stored = async () =>
  (await readBaselines(world.sql, monitorId, HTTP)).map(({ facts, goodAt }) => [goodAt.getTime(), facts.status]);

describe("the last good checks", () => {
  it("are stored, the newest of each location", async () => {
    good(START, 200);
    await expect.poll(stored).toEqual([[START, 200]]);
    good(START + 5_000, 204);
    await expect.poll(stored).toEqual([[START + 5_000, 204]]);
    const [incident] = await world.open(accountId, [TARGET]);
    const other = incident?.monitor?.id ?? 0;
    good(START - 5_000, 201);
    good(START, 202, "https://other.example.com/");
    // What came first is stored first.
    good(START, 200, TARGET, other);
    await expect.poll(() => readBaselines(world.sql, other, HTTP)).toHaveLength(1);
    expect(await stored()).toEqual([[START + 5_000, 204]]);
  });

  it("are none for another target", async () => {
    expect(await readBaselines(world.sql, monitorId, { ...HTTP, url: "https://other.example.com/" })).toEqual([]);
  });

  it("are asked for about once an hour and location, from the second hour of a replica on", () => {
    const entry = { monitorId: 7, location: "eu-west" };
    let asked = 0;
    for (let minute = 0; minute < 60 * 6; minute += 1)
      if (replica.baselines.wants(entry, START + minute * 60_000)) asked += 1;
    expect(asked).toBeGreaterThanOrEqual(5);
    expect(asked).toBeLessThanOrEqual(6);
  });

  it("of many schedule entries are asked for at different times", () => {
    const perMinute = new Map<number, number>();
    for (let minute = 0; minute < 120; minute += 1) {
      for (let id = 1; id <= 600; id += 1) {
        const isAsked = replica.baselines.wants({ monitorId: id, location: "us-east" }, START + minute * 60_000);
        if (isAsked && minute >= 60) perMinute.set(minute, (perMinute.get(minute) ?? 0) + 1);
      }
    }
    expect(Math.max(...perMinute.values())).toBeLessThan(60);
  });
});

describe("the name servers of a domain", () => {
  const question = { accountId: 1, zone: "example.com", location: "eu-west" };

  it("are looked up once a day, and shown with the time of the look-up", async () => {
    const clock = createManualClock(new Date(START));
    let asked = 0;
    const servers = createNameServers({
      clock,
      ask() {
        asked += 1;
        return Promise.resolve([`ns${asked}.example.net.`]);
      },
    });
    const answers: unknown[] = [];
    const read = () => servers.read(question, (found) => answers.push(found));
    expect(read()).toBeNull();
    await expect.poll(() => answers).toHaveLength(1);
    clock.advance(23 * HOUR_MS);
    expect(read()).toEqual({ names: ["ns1.example.net."], at: START });
    clock.advance(2 * HOUR_MS);
    expect(read()).toEqual({ names: ["ns1.example.net."], at: START });
    await expect.poll(() => answers).toHaveLength(2);
    expect(read()).toEqual({ names: ["ns2.example.net."], at: START + 25 * HOUR_MS });
    expect(asked).toBe(2);
  });

  it("are looked up again after an hour if nobody answered", async () => {
    const clock = createManualClock(new Date(START));
    let asked = 0;
    const servers = createNameServers({
      clock,
      ask() {
        asked += 1;
        return asked === 1 ? Promise.reject(new Error("away")) : Promise.resolve(["ns.example.net."]);
      },
    });
    const read = () => servers.read(question, () => {});
    expect(read()).toBeNull();
    await expect.poll(() => asked).toBe(1);
    clock.advance(HOUR_MS - 1);
    expect(read()).toBeNull();
    clock.advance(1);
    expect(read()).toBeNull();
    await expect.poll(read).not.toBeNull();
    expect(asked).toBe(2);
  });

  it("stay in the baseline when the next good check says nothing about them", async () => {
    const servers = async () => (await readBaselines(world.sql, monitorId, HTTP))[0]?.facts.nameServers;
    await expect.poll(servers).toEqual(["ns1.example.net."]);
    good(START + 10_000, 200);
    await expect.poll(stored).toEqual([[START + 10_000, 200]]);
    expect(await servers()).toEqual(["ns1.example.net."]);
    expect(replica.jobs.filter((tool) => tool === "dns").length).toBeGreaterThanOrEqual(1);
  });

  it("are stored beside facts with characters that the database refuses", async () => {
    const foreign = { monitorId, location: "us-east", accountId, checkType: "http", at: START, target: TARGET };
    replica.baselines.add({ ...foreign, whole: { ip: "192.0.2.1\u0000\ud800", code: 200, final_url: "a\u0000b" } });
    good(START + 20_000, 200);
    await expect.poll(stored).toContainEqual([START + 20_000, 200]);
    const rows = await readBaselines(world.sql, monitorId, HTTP);
    expect(rows.find(({ location }) => location === "us-east")?.facts).toMatchObject({
      address: "192.0.2.1 \ufffd",
      finalUrl: "a b",
    });
  });
});
