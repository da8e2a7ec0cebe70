import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { eraseTargets } from "#control-plane/watching/expiry/links/links.ts";
import { readExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import { readExpiryTimes } from "#control-plane/watching/expiry/read/times.ts";
import {
  DAY_MS,
  MINUTE_MS,
  openExpiryWorld,
  handshakeResult,
  SILENT,
  fullResult,
  type ScriptedCertificate,
} from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = new Date("2026-01-01T00:00:00Z");
const day = (days: number) => new Date(START.getTime() + days * DAY_MS);
const HOUR_MS = 60 * MINUTE_MS;

const world = await stopAfterAll(openExpiryWorld(await createTestDatabase(), START));
const replicas = [world.openReplica(), world.openReplica()];

/** Both replicas do what is due, at the same time. */
const round = () => Promise.all(replicas.map((replica) => replica.round()));

/** Lets time pass in steps of an hour. */
async function pass(hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    world.advance(HOUR_MS);
    await round();
  }
}

const server = (certificate: () => ScriptedCertificate | null) =>
  world.answer(() => {
    const present = certificate();
    return present === null ? SILENT : fullResult(handshakeResult(present));
  });

describe("the certificate of a host", () => {
  const first = { digit: "a", notBefore: day(-50), notAfter: day(45) };
  const second = { digit: "b", notBefore: day(40), notAfter: day(130) };
  const other = { digit: "c", notBefore: day(50), notAfter: day(145), issuer: "CN=Other" };
  let present: ScriptedCertificate | null = first;
  let ids: readonly number[] = [];

  it("is looked at once for all its monitors, and shown by each", async () => {
    server(() => present);
    ids = await world.addMonitors([
      { url: "https://a.example/", checkType: "http" },
      { url: "https://A.example:443/shop", checkType: "keyword" },
      { url: "a.example", checkType: "ssl" },
      { url: "http://a.example/", checkType: "http" },
    ]);
    await round();
    expect(world.asked).toEqual(["monitor-ssl a.example"]);
    const facts = await readExpiryDetails(world.sql, ids, world.now());
    expect([...facts.keys()].toSorted((one, two) => one - two)).toEqual(ids.slice(0, 3));
    expect(facts.get(ids[0] ?? 0)?.certificate).toMatchObject({
      fingerprint_sha256: "a".repeat(64),
      days_left: 45,
      looked_at: START.toISOString(),
      chain_changed_at: null,
    });
    const times = await readExpiryTimes(world.sql, ids);
    expect(times.get(ids[2] ?? 0)).toEqual({ certificate: day(45), domain: null });
    for (const id of ids) expect(await world.types(id)).toEqual([]);
  });

  it("is looked at once a day, and its thresholds are noticed once, on two replicas", async () => {
    const before = world.asked.length;
    await pass(30 * 24);
    // One look a day, one before the notice at 30 days, and one at 14 at most.
    expect(world.asked.length - before).toBeGreaterThanOrEqual(29);
    expect(world.asked.length - before).toBeLessThanOrEqual(33);
    for (const id of ids.slice(0, 3)) expect(await world.types(id)).toEqual(["ssl.expiring 30"]);
    const [event] = await world.events(ids[0] ?? 0);
    expect(event?.data).toMatchObject({
      monitor: { id: ids[0], url: "https://a.example/", check_type: "http" },
      certificate: { host: "a.example", port: 443, issuer: "CN=R1", not_after: day(45).toISOString() },
      days_left: 30,
      threshold: 30,
    });
  });

  it("is noticed at its thresholds and its end also while the host does not answer", async () => {
    present = null;
    await pass(15 * 24);
    expect(await world.types(ids[0] ?? 0)).toEqual([
      "ssl.expiring 30",
      "ssl.expiring 14",
      "ssl.expiring 7",
      "ssl.expiring 1",
      "ssl.expired",
    ]);
  });

  it("that a later monitor has is noticed for it too, only the tightest threshold", async () => {
    const [late = 0] = await world.addMonitors([{ url: "https://a.example/late", checkType: "http" }]);
    await round();
    expect(await world.types(late)).toEqual(["ssl.expired"]);
  });

  it("is noticed as a renewal when it is renewed, which begins anew", async () => {
    present = second;
    await pass(24);
    const events = await world.events(ids[0] ?? 0);
    expect(events.slice(5).map(({ type }) => type)).toEqual(["ssl.chain_changed"]);
    expect(events[5]?.data).toMatchObject({
      certificate: { fingerprint_sha256: "b".repeat(64) },
      previous: { issuer: "CN=R1", fingerprint_sha256: "a".repeat(64), not_after: day(45).toISOString() },
      changed: ["fingerprint"],
      looks_like_renewal: true,
      threshold: null,
    });
  });

  it("of another issuer is looked at at once when a check has seen it", async () => {
    present = other;
    await pass(24);
    world.advance(10 * MINUTE_MS);
    await round();
    const before = world.asked.length;
    const [one] = replicas;
    one?.note(ids[0] ?? 0, "d".repeat(64));
    present = { ...other, digit: "d", issuer: "CN=Third" };
    await round();
    expect(world.asked.length - before).toBe(1);
    await round();
    world.advance(10 * MINUTE_MS);
    await round();
    expect(world.asked.length - before).toBe(1);
    const events = await world.events(ids[0] ?? 0);
    expect(events.slice(6).map(({ data }) => [data.changed, data.looks_like_renewal])).toEqual([
      [["issuer", "fingerprint"], false],
      [["issuer", "fingerprint"], false],
    ]);
  });

  it("that alternates between two servers is one more change, and is looked at few times more", async () => {
    const known = await world.types(ids[0] ?? 0);
    const before = world.asked.length;
    const [one] = replicas;
    let turn = 0;
    server(() => (turn % 2 === 0 ? { ...other, digit: "d", issuer: "CN=Third" } : other));
    for (let minute = 0; minute < 24 * 60; minute += 10) {
      turn += 1;
      one?.note(ids[0] ?? 0, (turn % 2 === 0 ? "d" : "c").repeat(64));
      world.advance(10 * MINUTE_MS);
      await round();
    }
    expect(await world.types(ids[0] ?? 0)).toEqual([...known, "ssl.chain_changed"]);
    expect(world.asked.length - before).toBeLessThanOrEqual(6);
  });

  it("is not noticed for a paused monitor", async () => {
    const id = ids[1] ?? 0;
    const known = await world.types(id);
    await world.sql`update monitors set is_active = false, version = version + 1 where id = ${id}`;
    server(() => ({ digit: "e", notBefore: day(60), notAfter: day(300) }));
    await pass(48);
    expect(await world.types(id)).toEqual(known);
    expect((await world.types(ids[0] ?? 0)).at(-1)).toBe("ssl.chain_changed");
  });

  it("is watched with the certificates above it: the first end counts, and the notice names the certificate", async () => {
    const above = [
      { role: "intermediate", digit: "1", subject: "CN=Intermediate", notBefore: day(-300), notAfter: day(200) },
      { role: "extra", digit: "2", subject: "CN=Of no use", notBefore: day(-900), notAfter: day(-100) },
    ] as const;
    const start = (world.now().getTime() - START.getTime()) / DAY_MS;
    const ending = { ...above[0], notAfter: day(start + 5.5) };
    server(() => ({ digit: "f", notBefore: day(start - 11), notAfter: day(start + 79), above: [ending, above[1]] }));
    const [id = 0] = await world.addMonitors([{ url: "https://b.example/", checkType: "http" }]);
    await round();
    const { certificate } = (await readExpiryDetails(world.sql, [id], world.now())).get(id) ?? {};
    expect(certificate).toMatchObject({
      fingerprint_sha256: "f".repeat(64),
      days_left: 79,
      first_to_end: { role: "intermediate", subject: "CN=Intermediate", days_left: 5 },
    });
    expect((await readExpiryTimes(world.sql, [id])).get(id)?.certificate).toEqual(day(start + 5.5));
    expect(await world.types(id)).toEqual(["ssl.expiring 7"]);
    const [event] = await world.events(id);
    expect(event?.data).toMatchObject({
      certificate: { host: "b.example", role: "intermediate", subject: "CN=Intermediate", issuer: "CN=R1" },
      days_left: 5,
      threshold: 7,
    });
    await pass(6 * 24);
    expect(await world.types(id)).toEqual(["ssl.expiring 7", "ssl.expiring 1", "ssl.expired"]);
  });

  it("that only private probes of an account look at is erased with the account", async () => {
    // What such a target has: the account as its scope. An address that no shared probe is allowed to reach is one.
    const [id = 0] = await world.addMonitors([{ url: "https://10.0.0.1/", checkType: "http" }]);
    await round();
    const scopes = () => world.sql<{ scope: number }[]>`select scope from expiry_targets where target = '10.0.0.1:443'`;
    expect(await scopes()).toEqual([{ scope: world.accountId }]);
    expect(await world.sql`select from expiry_links where monitor_id = ${id}`).toHaveLength(1);
    await transact(world.sql, (tx) => eraseTargets(tx, world.accountId));
    expect(await scopes()).toEqual([]);
    expect(await world.sql`select from expiry_links where monitor_id = ${id}`).toHaveLength(0);
  });

  it("is forgotten when no monitor is left", async () => {
    await world.sql`delete from monitors`;
    await pass(48);
    expect(await world.sql`select from expiry_targets`).toHaveLength(0);
    expect(await world.sql`select from expiry_links`).toHaveLength(0);
  });
});
