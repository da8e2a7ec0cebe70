import { expect, it } from "vitest";
import type { Actor } from "#control-plane/http/access/changes.ts";
import { insertAccount } from "#control-plane/accounts/store.ts";
import { ALL } from "#control-plane/accounts/changes/changes.ts";
import { insertChanges, listChanges } from "#control-plane/accounts/changes/store.ts";
import { showChange } from "#control-plane/accounts/changes/serialize.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = new Date("2026-03-10T12:00:00Z");

const { sql } = await stopAfterAll(openDatabase());
const accountId = (await insertAccount(sql, { email: null, plan: "free" }, NOW))?.id ?? 0;

function log(actor: Actor, address: string | null): Promise<void> {
  const changes = [{ resource: "session", id: null, name: null, action: "created" }] as const;
  return insertChanges(sql, { accountId, actor, address, changes }, NOW);
}

it("a change names the member by the email address of that time, and the service itself without an address", async () => {
  await log({ type: "member", id: 7, name: "ops@example.com" }, "192.0.2.1");
  await log({ type: "system" }, null);
  const shown = (await listChanges(sql, accountId, ALL, { limit: 10, offset: 0 })).map(showChange);
  expect(shown.map(({ actor, address }) => [actor, address])).toEqual([
    [{ kind: "system", id: null, name: null }, null],
    [{ kind: "member", id: 7, name: "ops@example.com" }, "192.0.2.1"],
  ]);
});

it("only the service itself can be without an address", async () => {
  await expect(log({ type: "operator" }, null)).rejects.toMatchObject({ code: "23514" });
});

it("a long name is stored with its first 200 characters", async () => {
  const changes = [{ resource: "monitor", id: 1, name: "\u{1f600}".repeat(300), action: "created" }] as const;
  await insertChanges(sql, { accountId, actor: { type: "system" }, address: null, changes }, NOW);
  const [row] = await listChanges(sql, accountId, ALL, { limit: 1, offset: 0 });
  expect(row?.resourceName).toBe("\u{1f600}".repeat(200));
});
