import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failed } from "#shared/contracts/outcome.ts";
import { readExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import {
  DAY_MS,
  MINUTE_MS,
  openExpiryWorld,
  registration,
  handshakeResult,
  fullResult,
  type ExpiryWorld,
  type Replica,
  type ScriptedCertificate,
} from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

const START = new Date("2026-01-01T00:00:00Z");
const HOUR_MS = 60 * MINUTE_MS;
const day = (days: number) => new Date(START.getTime() + days * DAY_MS);
const OLD = { digit: "a", notBefore: day(-80), notAfter: day(14.5) };
const RENEWED = { digit: "b", notBefore: day(-1), notAfter: day(89) };
const REFUSED = failed("connect", "target", "refused", "refused");

let world: ExpiryWorld;
let replicas: readonly Replica[];
let present: ScriptedCertificate;
beforeEach(async () => {
  world = await openExpiryWorld(await createTestDatabase(), START);
  replicas = [world.openReplica(), world.openReplica()];
  present = OLD;
  world.answer((tool) => (tool === "monitor-ssl" ? fullResult(handshakeResult(present)) : REFUSED));
});
afterEach(() => world?.close());

async function pass(ms: number, steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    world.advance(ms);
    await Promise.all(replicas.map((replica) => replica.round()));
  }
}

/** Adds two monitors of one host, of which both were informed that 30 days are left. */
async function openTwo(): Promise<readonly [number, number]> {
  const [covered = 0, other = 0] = await world.addMonitors([
    { url: "https://a.example/", checkType: "http" },
    { url: "https://a.example/other", checkType: "http" },
  ]);
  await pass(MINUTE_MS, 1);
  for (const id of [covered, other]) expect(await world.types(id)).toEqual(["ssl.expiring 30"]);
  return [covered, other];
}

/** The events of a monitor after those of openTwo. */
const later = async (id: number) => (await world.types(id)).slice(1);

describe("a notice that is due during maintenance of a monitor", () => {
  it("is silenced for this monitor only, and sent once after the window", async () => {
    const [covered, other] = await openTwo();
    await world.maintain([covered], DAY_MS);
    await pass(HOUR_MS, 20);
    expect(await later(other)).toEqual(["ssl.expiring 14"]);
    expect(await later(covered)).toEqual([]);
    await pass(HOUR_MS, 4);
    await pass(MINUTE_MS, 2);
    expect(await later(covered)).toEqual(["ssl.expiring 14"]);
    for (const replica of replicas) await replica.stop();
    replicas = [world.openReplica(), world.openReplica()];
    await pass(HOUR_MS, 24);
    expect(await later(covered)).toEqual(["ssl.expiring 14"]);
    expect(await later(other)).toEqual(["ssl.expiring 14"]);
  });

  it("is sent within minutes of the end of the window, though nothing is looked at then", async () => {
    const [covered] = await openTwo();
    await world.maintain([covered], 13 * HOUR_MS);
    await pass(HOUR_MS, 12);
    await pass(MINUTE_MS, 59);
    expect(await later(covered)).toEqual([]);
    const before = world.asked.length;
    await pass(MINUTE_MS, 3);
    expect(world.asked.length).toBe(before);
    expect(await later(covered)).toEqual(["ssl.expiring 14"]);
  });

  it("about a renewal says after the window what was renewed, and the record shows it meanwhile", async () => {
    const [covered, other] = await openTwo();
    await world.maintain([covered], 3 * DAY_MS);
    present = RENEWED;
    await pass(HOUR_MS, 70);
    expect(await later(covered)).toEqual([]);
    expect(await later(other)).toEqual(["ssl.chain_changed"]);
    const facts = (await readExpiryDetails(world.sql, [covered], world.now())).get(covered)?.certificate;
    expect(facts).toMatchObject({ fingerprint_sha256: "b".repeat(64), chain_changed_at: expect.any(String) });
    await pass(HOUR_MS, 4);
    expect(await later(covered)).toEqual(["ssl.chain_changed"]);
    expect((await world.events(covered)).at(-1)?.data).toMatchObject({
      previous: { issuer: "CN=R1", fingerprint_sha256: "a".repeat(64), not_after: OLD.notAfter.toISOString() },
      looks_like_renewal: true,
    });
  });

  it("is dropped if it holds no more at the end: the certificate was taken back", async () => {
    const [covered] = await openTwo();
    await world.maintain([covered], 3 * DAY_MS);
    present = { ...RENEWED, digit: "c", issuer: "CN=Other" };
    await pass(HOUR_MS, 30);
    present = OLD;
    await pass(HOUR_MS, 60);
    expect(await later(covered)).toEqual(["ssl.expiring 14"]);
  });

  it("about a domain that lapses is sent once, after the window", async () => {
    let status = ["active"];
    world.answer((tool) =>
      tool === "monitor-domain" ? fullResult(registration({ expires: day(400).toISOString(), status })) : REFUSED,
    );
    const [id = 0] = await world.addMonitors([{ url: "shop.example", checkType: "domain" }]);
    await pass(MINUTE_MS, 1);
    await world.maintain([id], 3 * DAY_MS);
    status = ["redemptionPeriod"];
    await pass(HOUR_MS, 71);
    expect(await world.types(id)).toEqual([]);
    await pass(HOUR_MS, 24);
    expect(await world.types(id)).toEqual(["domain.expired"]);
  });
});

it("what was found again is not written for each monitor at each sweep", async () => {
  const [covered, other] = await openTwo();
  await world.maintain([covered], DAY_MS);
  await pass(HOUR_MS, 13);
  const written = async () => {
    const [row] = await world.sql<{ xmin: string }[]>`
      select xmin::text as xmin from expiry_links where monitor_id = ${other}`;
    return row?.xmin;
  };
  const before = await written();
  await pass(MINUTE_MS, 30);
  expect(await written()).toBe(before);
});
