import { beforeEach, describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE } from "#control-plane/outages/state/state.ts";
import { insertStates, resetStates } from "#control-plane/outages/state/store.ts";
import { readStates } from "#test/support/monitor-states.ts";
import { tellOfDown } from "#test/control-plane/outages/state/story.ts";
import { lockMonitors } from "#control-plane/monitors/store.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let monitors: readonly number[];

const { sql } = await stopAfterAll(openDatabase());
beforeEach(async () => {
  const rows = await sql<{ id: number }[]>`
    with account as (
      insert into accounts (email, plan, created_at, updated_at)
      values (gen_random_uuid() || '@example.com', 'pro', now(), now())
      returning id
    )
    insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
      updated_at)
    select id, 'site', 'https://example.com', 'http', 1, true, '{}', '{}', now(), now()
    from account, generate_series(1, 3) returning id`;
  monitors = rows.map(({ id }) => id);
});

async function writeDown(id: number): Promise<void> {
  await sql`
    update monitor_states set status = 'down', state = ${encodeState(tellOfDown().state)}, state_version = 41
    where monitor_id = ${id}`;
}

describe("stored states", () => {
  it("of new monitors are unknown, in version 0", async () => {
    await insertStates(sql, monitors);
    const states = await readStates(sql, monitors);
    expect([...states.keys()].toSorted((a, b) => a - b)).toEqual(monitors);
    for (const stored of states.values()) expect(stored).toEqual({ state: NEW_STATE, version: 0 });
  });

  it("are read as they were written, with their version", async () => {
    await insertStates(sql, monitors);
    await writeDown(monitors[1]!);
    expect((await readStates(sql, monitors)).get(monitors[1]!)).toEqual({ state: tellOfDown().state, version: 41 });
  });

  it("are those of new monitors after a reset, in a higher version", async () => {
    await insertStates(sql, monitors);
    await writeDown(monitors[1]!);
    await transact(sql, (tx) => resetStates(tx, monitors.slice(1)));
    const states = await readStates(sql, monitors);
    expect(states.get(monitors[1]!)).toEqual({ state: NEW_STATE, version: 42 });
    expect(states.get(monitors[2]!)).toEqual({ state: NEW_STATE, version: 1 });
    expect(states.get(monitors[0]!)).toEqual({ state: NEW_STATE, version: 0 });
    const rows = await sql`select 1 from monitor_states where status = 'down' and monitor_id = any(${[...monitors]})`;
    expect(rows).toEqual([]);
  });

  it("can be reset by several transactions at once, in any order", async () => {
    await insertStates(sql, monitors);
    const orders = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? monitors : monitors.toReversed()));
    const reset = (ids: readonly number[]) =>
      transact(sql, async (tx) => {
        await lockMonitors(tx, ids);
        await resetStates(tx, ids);
      });
    await Promise.all(orders.map(reset));
    for (const { version } of (await readStates(sql, monitors)).values()) expect(version).toBe(40);
  });

  it("are missing for deleted monitors, and need none to be named", async () => {
    await insertStates(sql, monitors);
    await sql`delete from monitors where id = ${monitors[0]!}`;
    expect([...(await readStates(sql, monitors)).keys()].toSorted((a, b) => a - b)).toEqual(monitors.slice(1));
    expect(await readStates(sql, [])).toEqual(new Map());
    await insertStates(sql, []);
    await resetStates(sql, []);
  });
});
