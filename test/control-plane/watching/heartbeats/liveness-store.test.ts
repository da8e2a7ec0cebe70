import { beforeEach, expect, it } from "vitest";
import { deleteOutages, noteLiveness } from "#control-plane/watching/heartbeats/liveness-store.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const { sql } = await stopAfterAll(openDatabase({ connections: 6 }));
beforeEach(async () => {
  await sql`truncate service_liveness, service_outages`;
});

const [account] = await sql<{ id: number }[]>`
  insert into accounts (plan, created_at, updated_at) values ('captain', now(), now()) returning id`;
const [heartbeat] = await sql<{ id: number }[]>`
  insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
    updated_at)
  values (${account?.id ?? 0}, 'backup', '', 'heartbeat', 1, true, '{}', '{}', now(), now()) returning id`;
await sql`
  insert into heartbeats (monitor_id, token_hash, token_sealed) values (${heartbeat?.id ?? 0}, sha256('a'), 'a')`;

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1) + seconds * 1_000);
const note = (seconds: number) => noteLiveness(sql, at(seconds), 15_000);
const outages = () =>
  sql<{ from: Date; to: Date }[]>`
    select started_at as "from", ended_at as "to" from service_outages order by started_at`;

it("a gap of up to 15 s between notes is no outage", async () => {
  for (const seconds of [0, 5, 20, 20, 35]) await note(seconds);
  expect(await outages()).toEqual([]);
});

it("a longer gap is an outage, from the note before it to the one after it", async () => {
  await note(0);
  await note(15.001);
  await note(20);
  await note(3_620);
  expect(await outages()).toEqual([
    { from: at(0), to: at(15.001) },
    { from: at(20), to: at(3_620) },
  ]);
});

it("a gap is no outage where it is known to be none, or where no heartbeat is active", async () => {
  await note(0);
  await noteLiveness(sql, at(100), null);
  await sql`update monitors set is_active = false`;
  await note(200);
  await sql`update monitors set is_active = true`;
  expect(await outages()).toEqual([]);
  await note(300);
  expect(await outages()).toEqual([{ from: at(200), to: at(300) }]);
});

it("replicas that come back at the same time store one outage", async () => {
  await note(0);
  await Promise.all([60, 60.001, 60.002, 61, 62, 63].map(note));
  expect(await outages()).toHaveLength(1);
  const [{ at: last } = { at: null }] = await sql<{ at: Date }[]>`select at from service_liveness`;
  expect(last).toEqual(at(63));
});

it("a replica whose clock is behind takes back no note", async () => {
  await note(100);
  await note(90);
  await note(110);
  expect(await outages()).toEqual([]);
});

it("outages that ended long ago are deleted", async () => {
  for (const seconds of [0, 100, 200]) await note(seconds);
  await deleteOutages(sql, at(150));
  expect(await outages()).toEqual([{ from: at(100), to: at(200) }]);
});
