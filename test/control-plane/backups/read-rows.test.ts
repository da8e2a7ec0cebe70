import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { listTables } from "#control-plane/backups/tables-store.ts";
import { readRows, readSnapshot } from "#control-plane/backups/write/store.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Each read has another chance that the connection is paused as its last row arrives: one of five. */
const READS = 40;
const ROWS = 20_000;

it("a table is read to its end, however slowly", async () => {
  const { sql } = await stopAfterAll(openDatabase({ connections: 1 }));
  await sql`
    insert into observations (ip, host, account_id, first_seen, last_seen)
    select '192.0.2.1', 'host-' || n, 0, now(), now() from generate_series(1, ${ROWS}) as n`;
  const read = await readSnapshot(sql, async (tx) => {
    const table = (await listTables(tx)).find(({ name }) => name === "observations");
    if (table === undefined) throw new Error("there is no such table");
    const lines: number[] = [];
    for (let count = 0; count < READS; count += 1) {
      let rows = 0;
      for await (const piece of readRows(tx, table)) {
        rows += piece.toString().split("\n").length - 1;
        for (let turn = 0; turn < count; turn += 1) await setImmediate();
      }
      lines.push(rows);
    }
    return lines;
  });
  expect(read).toEqual(Array.from({ length: READS }, () => ROWS));
});
