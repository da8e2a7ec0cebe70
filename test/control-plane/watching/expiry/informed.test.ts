import { expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { registrationEvent } from "#control-plane/watching/expiry/sweep/describe.ts";
import { lockLinksOf, readInformed } from "#control-plane/watching/expiry/sweep/store.ts";
import { openExpiryWorld } from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(openExpiryWorld(await createTestDatabase(), new Date("2026-01-01T00:00:00Z")));

const FACTS = { registered: true, registrar: null, expires: null, status: [], source: "rdap" } as const;
const NOTICE = { type: "domain.expiring", threshold: 7, daysLeft: 7 } as const;
const one = { url: "shop.example", checkType: "domain" } as const;

it("the monitors of a target are read without their settings, which a sweep needs for notices only", async () => {
  const ids = await world.addMonitors([one, one]);
  await world.openReplica().round();
  const [target] = await world.sql<{ id: number }[]>`select id from expiry_targets`;
  const monitors = await transact(world.sql, (tx) => lockLinksOf(tx, target?.id ?? 0));
  expect(monitors).toEqual(ids.map((id) => ({ id, checkType: "domain", memory: "[]" })));
});

it.each([
  ["nobody", { notify_email: false, notify_emails: ["a@example.com"] }, undefined],
  ["the account", { notify_email: true, notify_emails: null }, null],
  ["the addresses that are set", { notify_email: true, notify_emails: ["a@example.com"] }, ["a@example.com"]],
])("a notice is mailed to %s, as the monitor says", async (_who, settings, mailTo) => {
  const [id = 0] = await world.addMonitors([one], settings);
  const [monitor] = await transact(world.sql, (tx) => readInformed(tx, [id]));
  if (monitor === undefined) throw new Error("no monitor");
  const event = registrationEvent(monitor, NOTICE, { target: "shop.example", facts: FACTS }, world.now().getTime());
  expect(event).toMatchObject({ accountId: world.accountId, monitorId: id, type: "domain.expiring" });
  expect(event.mailTo).toEqual(mailTo);
});
