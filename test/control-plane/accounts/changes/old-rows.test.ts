import { expect, it } from "vitest";
import { insertAccount } from "#control-plane/accounts/store.ts";
import { ALL } from "#control-plane/accounts/changes/changes.ts";
import { listChanges } from "#control-plane/accounts/changes/store.ts";
import { showChange } from "#control-plane/accounts/changes/serialize.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = new Date("2026-03-10T12:00:00Z");

const { sql } = await stopAfterAll(openDatabase());

it("a row that an older release has written shows the names of its fields, without values", async () => {
  const account = await insertAccount(sql, { email: null, plan: "free" }, NOW);
  const accountId = account?.id ?? 0;
  await sql`
    insert into account_changes (account_id, changed_at, actor_type, actor_id, actor_name, address, resource,
      resource_id, action, fields)
    values (${accountId}, ${NOW}, 'key', 3, 'deploy', '192.0.2.1', 'monitor', 5, 'changed', '{name,url}')`;
  const rows = await listChanges(sql, accountId, ALL, { limit: 10, offset: 0 });
  expect(rows.map(showChange)).toEqual([
    {
      id: expect.any(Number),
      at: NOW.toISOString(),
      actor: { kind: "key", id: 3, name: "deploy" },
      address: "192.0.2.1",
      action: "changed",
      subject: { kind: "monitor", id: 5, name: null },
      changed: [
        { field: "name", before: null, after: null },
        { field: "url", before: null, after: null },
      ],
    },
  ]);
});
