import { join } from "node:path";
import { expect, it } from "vitest";
import { backupDirectory, runCommand, storeSmallService } from "#test/support/backups.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const WRITERS = 3;
/** Rows in the tables that the backup reads between those that the writers change, so that it takes a while. */
const ROWS = 50_000;

it("a backup has every write that was committed before it began, and no write without those that it has seen", async () => {
  const file = join(backupDirectory(), "load.tar");
  const source = await stopAfterAll(openDatabase({ connections: WRITERS + 1 }));
  const { sql } = source;
  await storeSmallService(sql);
  await sql`
    insert into observations (ip, host, account_id, first_seen, last_seen)
    select '192.0.2.1', 'host-' || n, 0, now(), now() from generate_series(1, ${ROWS}) as n`;

  const over = new AbortController();
  let written = 0;
  /**
   * Writes rows one after the other into a table that is read early and, in the same transaction, into one that is read late.
   * Each names the newest row of any writer that it can see.
   */
  const write = async (): Promise<void> => {
    while (!over.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one transaction after the other
      await sql`
        with seen as (
          select coalesce(max(id), 0) as id from account_changes
        ), early as (
          insert into account_changes (account_id, changed_at, actor_type, address, resource, action, subject_name)
          select accounts.id, now(), 'operator', '192.0.2.1', 'key', 'created', seen.id::text from accounts, seen
          returning id
        )
        insert into released_domains (domain, account_id, released_at) select id::text, 1, now() from early`;
      written += 1;
    }
  };
  const writers = Array.from({ length: WRITERS }, () => write());
  await expect.poll(() => written).toBeGreaterThan(50);
  const [before] = await sql<{ ids: number[] }[]>`select array_agg(id) as ids from account_changes`;
  expect(await runCommand(source.url, ["backup", file])).toMatchObject({ status: 0 });
  const [after] = await sql<{ count: number }[]>`select count(*)::integer as count from account_changes`;
  over.abort();
  await Promise.all(writers);

  const target = await stopAfterAll(openDatabase({ connections: 1 }));
  expect(await runCommand(target.url, ["restore", file])).toMatchObject({ status: 0 });
  const rows = await target.sql<{ id: number; seen: number }[]>`
    select id, subject_name::integer as seen from account_changes order by id`;
  const ids = new Set(rows.map(({ id }) => id));
  expect((before?.ids ?? []).filter((id) => !ids.has(id))).toEqual([]);
  expect(rows.filter(({ seen }) => seen !== 0 && !ids.has(seen))).toEqual([]);
  // The writers went on during the backup, and it has not waited for them.
  expect(rows.length).toBeLessThan(after?.count ?? 0);
  const late = await target.sql<{ id: number }[]>`select domain::integer as id from released_domains order by 1`;
  expect(late.map(({ id }) => id)).toEqual([...ids].toSorted((a, b) => a - b));
});
