import { expect, it } from "vitest";
import { insertAccount } from "#control-plane/accounts/store.ts";
import { ALL } from "#control-plane/accounts/changes/changes.ts";
import { deleteOldChanges, insertChanges, listChanges } from "#control-plane/accounts/changes/store.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const { sql } = await stopAfterAll(openDatabase());

it("old changes are deleted in steps, and the others stay", async () => {
  const now = new Date("2026-03-10T12:00:00Z");
  const account = await insertAccount(sql, { email: null, plan: "free" }, now);
  const accountId = account?.id ?? 0;
  const set = { accountId, actor: { type: "operator" }, address: "192.0.2.1" } as const;
  const change = { resource: "monitor", name: null, action: "created" } as const;
  const ids = [1, 2, 3].map((id) => ({ ...change, id }));
  await insertChanges(sql, { ...set, changes: ids }, new Date("2025-01-01T00:00:00Z"));
  await insertChanges(sql, { ...set, changes: [{ ...change, id: 4 }] }, now);
  const cutoff = new Date("2025-06-01T00:00:00Z");
  expect([await deleteOldChanges(sql, cutoff, 2), await deleteOldChanges(sql, cutoff, 2)]).toEqual([2, 1]);
  const left = await listChanges(sql, accountId, ALL, { limit: 10, offset: 0 });
  expect(left.map(({ resourceId }) => resourceId)).toEqual([4]);
});
