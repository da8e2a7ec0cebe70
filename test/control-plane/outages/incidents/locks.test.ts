import { expect, it } from "vitest";
import { createAccounts } from "#control-plane/accounts/accounts.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { changeByHand, openByHand } from "#control-plane/outages/incidents/incidents.ts";
import { openIncidentDatabase, STARTED } from "#test/control-plane/outages/incidents/database.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const AUTHOR = { by: "key deploy", at: STARTED };

const database = await stopAfterAll(openIncidentDatabase());

async function openIncident(accountId: number): Promise<number> {
  const { id: monitorId } = await database.createMonitor(accountId);
  const scope = { accountId, monitorIds: [monitorId], pageIds: [], isPublic: true };
  const opened = { ...scope, title: "Payments", text: "We look.", status: "investigating", impact: "minor" } as const;
  const written = await transact(database.sql, (tx) => openByHand(tx, opened, AUTHOR));
  if (!written.ok) throw new Error(JSON.stringify(written));
  return written.value.id;
}

it("an update of an incident waits for an erasure of its account that has begun, without a deadlock", async () => {
  const { sql } = database;
  const accountId = await database.createAccount();
  const incidentId = await openIncident(accountId);
  const events = createEvents({ random: systemRandom, sources: [] });
  const accounts = createAccounts(sql, systemClock);
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  // Called when the account is locked, before anything is deleted.
  accounts.onErase(async () => {
    begun.resolve();
    await goOn.promise;
  });
  const erasure = accounts.erase(accountId, false);
  await begun.promise;
  const change = { update: { status: "identified", text: "We know.", public: true } } as const;
  const update = transact(sql, async (tx) => {
    const changed = await changeByHand(tx, accountId, incidentId, change, AUTHOR);
    if (!changed.ok) return null;
    const facts = { accountId, createdAt: STARTED, data: {}, monitorId: null, incidentId, isFlapping: false };
    await events.publish(tx, [{ ...facts, type: "page.update" }]);
    return changed;
  });
  await untilLockIsAwaited(sql);
  goOn.resolve();
  const ended = await Promise.allSettled([erasure, update]);
  expect(ended).toEqual([
    { status: "fulfilled", value: { exported: null } },
    { status: "fulfilled", value: null },
  ]);
});
