import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import { releaseHeldMail } from "#control-plane/deliveries/release/held.ts";
import { CAUSE_MS, planRound, type FailReason } from "#control-plane/evidence/plan.ts";
import {
  claimRows,
  failRows,
  findGathered,
  lockClaims,
  readDue,
  readLeaders,
  settleRow,
  shareRows,
  type GatheredRow,
  type Task,
} from "#control-plane/evidence/store.ts";
import { addLines } from "#control-plane/incidents/outages/outages.ts";

/** Maximum number of due rows in one round; the rest follows in the next. */
const MOST_DUE = 1_000;
/** Time after which another replica repeats a gathering, milliseconds. */
const LEASE_MS = 25_000;

const FAIL_WORDS: Readonly<Record<FailReason, string>> = {
  interrupted: "it was interrupted twice",
  too_many: "too many outages of this account were confirmed within a minute",
  target_busy: "evidence of other outages at this target was gathered within a minute",
  too_late: "it could not begin within 2 minutes, because too many outages were confirmed",
  no_monitor: "the monitor was deleted",
  internal_error: "of an internal error",
};

/** What a round has done. */
interface Round {
  readonly tasks: readonly Task[];
  /** Whether rows wait that a further round can handle now. */
  readonly isMore: boolean;
}

/**
 * Claims at most `room` gatherings, and settles what shares the evidence of others or gets none. The number of statements
 * does not depend on the number of rows. One replica does this at a time.
 */
export function claimRound(sql: Sql, room: number, now: Date): Promise<Round> {
  return transact(sql, async (tx) => {
    await lockClaims(tx);
    const due = await readDue(tx, now, MOST_DUE);
    if (due.length === 0) return { tasks: [], isMore: false };
    const accountIds = [...new Set(due.map(({ accountId }) => accountId))];
    const hosts = [...new Set(due.map(({ host }) => host).filter((host) => host !== ""))];
    const oldest = Math.min(...due.map(({ confirmedAt }) => confirmedAt));
    const known = await readLeaders(tx, { accountIds, hosts }, new Date(oldest - CAUSE_MS));
    const { gather, shared, failed } = planRound(due, known, room, now.getTime());
    const ids = gather.map(({ incidentId }) => incidentId);
    const tasks = ids.length === 0 ? [] : await claimRows(tx, ids, new Date(now.getTime() + LEASE_MS));
    if (shared.length > 0) await share(tx, shared, now);
    const lost = ids.filter((id) => !tasks.some(({ incidentId }) => incidentId === id));
    const ended = [...failed, ...lost.map((incidentId) => ({ incidentId, reason: "no_monitor" as const }))];
    if (ended.length > 0) await fail(tx, ended, now);
    return { tasks, isMore: due.length === MOST_DUE };
  });
}

/** Stores what was gathered, with a line in the timeline, and lets the mails go that wait for it. */
export function storeGathered(sql: Sql, row: GatheredRow): Promise<boolean> {
  return transact(sql, async (tx) => {
    const ids = await settleRow(tx, row);
    if (ids.length === 0) return false;
    const { incidentId, gatheredAt, lines } = row;
    const text = `Evidence gathered. ${lines[1] ?? ""}`;
    await addLines(tx, [{ incidentId, kind: "evidence", at: gatheredAt, text }]);
    await releaseHeldMail(tx, ids, gatheredAt);
    return true;
  });
}

/** Ends a gathering that failed. */
export function storeFailed(sql: Sql, incidentId: number, reason: FailReason, now: Date): Promise<void> {
  return transact(sql, (tx) => fail(tx, [{ incidentId, reason }], now));
}

async function share(
  tx: Transaction,
  shared: readonly { readonly incidentId: number; readonly sharedWith: number }[],
  now: Date,
): Promise<void> {
  await shareRows(tx, shared);
  await addLines(
    tx,
    shared.map(({ incidentId, sharedWith }) => {
      const text = `The evidence is that of incident ${sharedWith}, which began at the same time with the same cause`;
      return { incidentId, kind: "evidence", at: now, text };
    }),
  );
  const gathered = await findGathered(
    tx,
    shared.map(({ sharedWith }) => sharedWith),
  );
  const ready = shared.filter(({ sharedWith }) => gathered.has(sharedWith));
  if (ready.length > 0) {
    await releaseHeldMail(
      tx,
      ready.map(({ incidentId }) => incidentId),
      now,
    );
  }
}

async function fail(
  tx: Transaction,
  failed: readonly { readonly incidentId: number; readonly reason: FailReason }[],
  now: Date,
): Promise<void> {
  await failRows(tx, failed);
  await addLines(
    tx,
    failed.map(({ incidentId, reason }) => {
      return { incidentId, kind: "evidence", at: now, text: `No evidence was gathered, because ${FAIL_WORDS[reason]}` };
    }),
  );
  await releaseHeldMail(
    tx,
    failed.map(({ incidentId }) => incidentId),
    now,
  );
}
