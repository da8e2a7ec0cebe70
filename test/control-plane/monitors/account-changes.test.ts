import { describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const sql = await stopAfterAll(
  connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 30_000 }),
);

const changeAccount = (id: number, change: object) => plane.operate("PUT", `/api/admin/accounts?id=${id}`, change);

async function readSlots(ids: readonly number[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ entry: string; version: string }[]>`
    select monitor_id || ' ' || location as entry, timeout_seconds || ' ' || interval_seconds || ' ' || phase_ms || ' ' ||
      extract(epoch from planned_at) as version
    from monitor_slots where monitor_id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map(({ entry, version }) => [entry, version]));
}

/** Moves all checks to tomorrow, so that no replica claims one, and waits until none is claimed. */
async function postponeChecks(): Promise<void> {
  const countClaimed = async () => {
    await sql`update monitor_slots set due_at = now() + interval '1 day', planned_at = now() + interval '1 day'`;
    const [row] = await sql<{ claimed: number }[]>`select count(*)::integer as claimed from monitor_slots
      where lease <> 0 or due_at < now() + interval '1 hour'`;
    return row?.claimed;
  };
  await expect.poll(countClaimed).toBe(0);
}

/** Reads where the rows of schedule entries are stored: a row that is written gets another place. */
async function readPlaces(): Promise<readonly string[]> {
  const rows = await sql<
    { place: string }[]
  >`select ctid::text as place from monitor_slots order by monitor_id, location`;
  return rows.map(({ place }) => place);
}

describe("the schedule of an account's monitors", () => {
  it("is not written if a change of the account leaves it as it is, and only where the plan changes it", async () => {
    const { accountId, ids } = await createWatchedAccount(plane, sql, 20);
    // The first change gives each schedule entry its place in the interval. No replica claims what is not due.
    await changeAccount(accountId, { plan: "pro" });
    await postponeChecks();
    const before = await readSlots(ids);
    const places = await readPlaces();
    expect((await changeAccount(accountId, { plan: "business" })).status).toBe(200);
    expect((await changeAccount(accountId, { email: `ops-${accountId}@example.com` })).status).toBe(200);
    expect(await readPlaces()).toEqual(places);
    expect(await readSlots(ids)).toEqual(before);
    expect((await changeAccount(accountId, { plan: "starter" })).status).toBe(200);
    const after = await readSlots(ids);
    expect([...after.values()].every((version) => version.startsWith("15 120 "))).toBe(true);
  });
});

describe("a paused monitor", () => {
  it("keeps the time of its last check", async () => {
    const { key, ids } = await createWatchedAccount(plane, sql, 1);
    const [id = 0] = ids;
    const read = async () => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
    expect(await read()).toMatchObject({ last_checked_at: null });
    await sql`
      update monitor_slots set checked_at = '2026-03-01T12:00:00Z'::timestamptz + phase * interval '1 minute', lag_ms = 3
      from unnest(array['eu-west', 'us-east'], array[1, 2]) as given (place, phase)
      where monitor_id = ${id} and location = place`;
    expect(await read()).toMatchObject({ last_checked_at: "2026-03-01T12:02:00.000Z" });
    const path = `/api/v4/monitors?id=${id}`;
    await plane.call(path, { key, method: "PUT", body: { is_active: false } });
    expect(await read()).toMatchObject({ last_checked_at: "2026-03-01T12:02:00.000Z", next_check_at: null });
    await plane.call(path, { key, method: "PUT", body: { is_active: true } });
    expect(await read()).toMatchObject({ last_checked_at: "2026-03-01T12:02:00.000Z" });
    expect((await read())["next_check_at"]).not.toBeNull();
  });
});

describe("a new address of an account", () => {
  const asked = (accountId: number) => sql`
    select email, confirmed_at from mail_recipients where account_id = ${accountId}`;

  it("is asked for its confirmation at once if a monitor mails to it", async () => {
    const { accountId, key, ids } = await createWatchedAccount(plane, sql, 2, { notify_email: true });
    await changeAccount(accountId, { plan: "pro" });
    expect(await asked(accountId)).toEqual([]);
    const email = `new-${accountId}@example.com`;
    await changeAccount(accountId, { email });
    expect(await asked(accountId)).toEqual([{ email, confirmed_at: null }]);
    const shown = await plane.call(`/api/v4/monitors?id=${ids[0]}`, { key });
    expect(shown.body.data).toMatchObject({ notify_emails: [{ email, confirmed: false }] });
  });

  it("is not asked if the monitors mail to nobody or to others", async () => {
    const silent = await createWatchedAccount(plane, sql, 2);
    const others = await createWatchedAccount(plane, sql, 2, {
      notify_email: true,
      notify_emails: ["oncall@example.com"],
    });
    for (const { accountId } of [silent, others]) {
      await changeAccount(accountId, { email: `silent-${accountId}@example.com` });
      expect(await asked(accountId)).toEqual([]);
    }
  });
});

it("a deleted monitor takes the confirmations along that only its addresses wait for", async () => {
  const [only, shared] = ["only@example.com", "shared@example.com"];
  const { accountId, key } = await createWatchedAccount(plane, sql, 1, { notify_email: true, notify_emails: [shared] });
  const create = async (notify_emails: readonly string[]) => {
    const body = { check_type: "heartbeat", name: "job", notify_email: true, notify_emails };
    const made = await plane.call("/api/v4/monitors", { key, body });
    expect(made.status, made.text).toBe(201);
    return made.body.data as { readonly id: number };
  };
  const { id } = await create([only, "Shared@example.com"]);
  const waiting = () => sql`
    select lower(email) as email from mail_recipients where account_id = ${accountId} and wants_confirmation order by 1`;
  expect(await waiting()).toEqual([{ email: only }, { email: shared }]);
  expect((await plane.call(`/api/v4/monitors?id=${id}`, { key, method: "DELETE" })).status).toBe(200);
  expect(await waiting()).toEqual([{ email: shared }]);
  await create([only]);
  expect(await waiting()).toEqual([{ email: only }, { email: shared }]);
});
