import { expect, it } from "vitest";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Tables with accounts whose rows no foreign key deletes, and what becomes of them. */
const WITHOUT_KEY: Readonly<Record<string, string>> = {
  confirmation_ledger: "outlives accounts: it limits what strangers are mailed",
  observations: "an erasure deletes them (job-inputs)",
  released_domains: "outlive accounts: another account waits for the domain",
  request_counts: "an erasure deletes them (limits)",
};

const { sql } = await stopAfterAll(openDatabase({ connections: 1 }));

it("rows of an account are deleted with it, or what becomes of them is known", async () => {
  const rows = await sql<{ name: string }[]>`
    with recursive erased as (
      select 'accounts'::regclass::oid as oid
      union
      select k.conrelid from pg_constraint as k join erased on k.confrelid = erased.oid
      where k.contype = 'f' and k.confdeltype = 'c'
    )
    select c.relname as name from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.oid not in (select oid from erased)
    order by 1`;
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(WITHOUT_KEY));
});
