import { describe, expect, it } from "vitest";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { listLocations } from "#control-plane/watching/checking/survey-store.ts";
import { surveyMonitors } from "#control-plane/watching/checking/survey.ts";
import { createWarningsDatabase } from "#test/support/warnings.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MONITORS = 20_000;
const ACCOUNTS = 40;
const PLACE = { country: "", city: "", asn: 0, tags: [], latitude: null, longitude: null } as const;

const database = await stopAfterAll(createWarningsDatabase());
const { sql } = database;
const made: number[] = [];
for (let n = 0; n < ACCOUNTS; n += 1) made.push(await database.addAccount());
const accounts = made;
const settings = (isMailed: boolean) =>
  JSON.stringify({ locations: ["eu-west"], timeout_seconds: 15, notify_email: isMailed });
await sql`
  insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
    updated_at)
  select (${[...accounts]}::bigint[])[1 + n % ${ACCOUNTS}::integer], 'shop', 'https://shop.example', 'http', 1, true,
    '{}', case when n % 100 = 0 then ${settings(true)} else ${settings(false)} end, now(), now()
  from generate_series(1, ${MONITORS}::integer) as n`;
await sql`insert into monitor_states (monitor_id, status, state) select id, 'up', '{}' from monitors`;
// Each account has two locations of all, and the last one has a location that no other account has.
await sql`
  insert into monitor_slots (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds, planned_at,
    due_at)
  select id, location, account_id, 60, 0, 15, now(), 'infinity' from monitors, unnest(case
    when account_id = ${accounts.at(-1) ?? 0} then '{office}'
    when account_id % 2 = 0 then '{eu-west,us-east}' else '{eu-west,ap-south}' end::text[]) as location`;
await sql`analyze monitors, monitor_slots`;

describe("the locations of active monitors", () => {
  it("are each listed once, apart for accounts with agents of their own", async () => {
    const [first = 0, second = 0] = accounts;
    const last = accounts.at(-1) ?? 0;
    for (const own of [[], [first], [first, second, last], [last], [...accounts], [0]]) {
      const expected = await database.sql`
        select location, case when account_id = any(${own}::bigint[]) then account_id else 0 end as "accountId"
        from monitor_slots group by 1, 2 order by 1, 2`;
      expect(await listLocations(database.sql, own)).toEqual([...expected]);
    }
  });
});

describe("a survey of many monitors", () => {
  it.each([true, false])(
    "reads neither all monitors nor all schedule entries (mail configured: %s)",
    async (isMailConfigured) => {
      const agents = ["eu-west", "us-east", "ap-south", "office"].map((region) => {
        return { place: { ...PLACE, probe_id: region, region }, accountId: null, isOnline: true };
      });
      const [before, after] = await transact(database.sql, async (tx) => {
        const unasked = await readRows(tx);
        const options = { agents, now: database.clock.now(), isMailConfigured, mostIds: 100, overdueMs: 30_000 };
        const survey = await surveyMonitors(tx, options);
        expect(survey.askingForMail.monitorCount).toBe(isMailConfigured ? 0 : MONITORS / 100);
        return [unasked, await readRows(tx)];
      });
      expect(after).toEqual(before);
    },
  );
});

/** Returns how many rows of the two tables this connection has read without an index. */
function readRows(tx: Transaction) {
  return tx<{ table: string; rows: number }[]>`
    select relname as "table", seq_tup_read as rows from pg_stat_xact_user_tables
    where relname in ('monitors', 'monitor_slots') order by relname`;
}
