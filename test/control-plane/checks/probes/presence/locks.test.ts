import { beforeEach, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { removeReplica, writePresence } from "#control-plane/checks/probes/presence/store.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const AGENT = "agent-one";
const LONG_AGO = new Date("2026-01-01T00:00:00Z");
const NOW = new Date("2026-01-01T01:00:00Z");
const HORIZON = new Date("2026-01-01T00:30:00Z");

const { sql } = await stopAfterAll(openDatabase());
beforeEach(async () => {
  await sql`truncate probes, replicas, attachments`;
  await sql`
    insert into probes (id, region, certificate_serial, certificate_expires_at, enrolled_at, enrolled_by)
    values (${AGENT}, 'eu-west', '1', ${NOW}, ${LONG_AGO}, sha256('one'))`;
  await write("late", LONG_AGO);
});

const write = (replicaId: string, now: Date): Promise<void> =>
  writePresence(sql, {
    replicaId,
    address: "",
    startedAt: LONG_AGO,
    now,
    horizon: HORIZON,
    announce: false,
    changes: [],
    stillHere: [AGENT],
    seenSince: new Date(now.getTime() - 15_000),
  });
const lastSeenAt = async () => (await sql<{ at: Date }[]>`select last_seen_at as at from probes`)[0]?.at;

it("one of the replicas that an agent is attached to stores that it is still there, not each of them", async () => {
  expect(await lastSeenAt()).toEqual(LONG_AGO);
  await write("one", NOW);
  const soon = new Date(NOW.getTime() + 14_000);
  const later = new Date(NOW.getTime() + 16_000);
  await write("two", soon);
  expect(await lastSeenAt()).toEqual(NOW);
  await write("two", later);
  expect(await lastSeenAt()).toEqual(later);
});

it.each<[string, () => Promise<void>]>([
  ["writes its sign of life again", () => write("late", NOW)],
  ["stops", () => removeReplica(sql, { replicaId: "late", now: NOW, left: [AGENT] })],
])("a replica that was held up and %s while another deletes it: both end", async (_what, comeBack) => {
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = transact(sql, async (tx) => {
    await tx`select from probes for update`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const late = comeBack();
  await untilLockIsAwaited(sql);
  const live = write("live", NOW);
  await untilLockIsAwaited(sql, 2);
  release.resolve();
  const ended = await Promise.allSettled([holder, late, live]);
  expect(ended.filter(({ status }) => status === "rejected")).toEqual([]);
});
