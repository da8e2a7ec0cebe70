import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { releaseHeldMail } from "#control-plane/notify/deliveries/release/held.ts";
import { CAUSE_MS, planRound, type FailReason } from "#control-plane/watching/evidence/claims/plan.ts";
import {
  claimRows,
  failRows,
  findFollowers,
  lockClaims,
  readDue,
  readLeaders,
  releaseFollowers,
  settleRow,
  type GatheredRow,
  type Task,
} from "#control-plane/watching/evidence/claims/store.ts";
import { settleUnclaimed } from "#control-plane/watching/evidence/claims/unclaimed.ts";
import { describeFailure } from "#control-plane/watching/evidence/claims/words.ts";
import { keepMonitors, lockIncident } from "#control-plane/watching/evidence/timeline/store.ts";
import { addLines } from "#control-plane/outages/incidents/outages/outages.ts";

/** Maximum number of due rows in one round; the rest follows in the next. */
const MOST_DUE = 1_000;
/** Time after which another replica repeats a gathering, milliseconds. */
const LEASE_MS = 25_000;

/** What a round has done. */
interface Round {
  readonly tasks: readonly Task[];
  /** Whether rows wait that a further round can handle now. */
  readonly isMore: boolean;
}

/**
 * Claims at most `room` gatherings, and settles what shares the evidence of others or gets none. The number of statements
 * does not depend on the number of rows. One replica does this at a time. What another transaction has locked stays due, so
 * that the others need not wait for it.
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
    const lost = gather
      .filter(({ incidentId }) => !tasks.some((task) => task.incidentId === incidentId))
      .map(({ incidentId, attempts }) => ({ incidentId, attempts: attempts + 1 }));
    const { settled, released } = await settleUnclaimed(tx, { shared, failed, lost }, now);
    const isProgress = tasks.length + settled > 0;
    return { tasks, isMore: released > 0 || (isProgress && due.length === MOST_DUE) };
  });
}

/** Stores what was gathered, with a line in the timeline, and lets the mails go that wait for it. */
export function storeGathered(sql: Sql, row: GatheredRow): Promise<boolean> {
  return transact(sql, async (tx) => {
    const { incidentId, gatheredAt, lines } = row;
    if (!(await lockIncident(tx, incidentId))) return false;
    const kept = await keepMonitors(tx, [incidentId]);
    if (!(await settleRow(tx, row))) return false;
    const text = `Evidence gathered. ${lines[1] ?? ""}`;
    if (kept.has(incidentId)) await addLines(tx, [{ incidentId, kind: "evidence", at: gatheredAt, text }]);
    await releaseHeldMail(tx, [incidentId, ...(await findFollowers(tx, incidentId))], gatheredAt);
    return true;
  });
}

/** Ends a gathering that failed, if its claim still holds. The outages that were to share its evidence are due again. */
export function storeFailed(
  sql: Sql,
  { incidentId, attempt }: Pick<Task, "incidentId" | "attempt">,
  reason: FailReason,
  now: Date,
): Promise<void> {
  return transact(sql, async (tx) => {
    if (!(await lockIncident(tx, incidentId))) return;
    const kept = await keepMonitors(tx, [incidentId]);
    const ended = await failRows(tx, [{ incidentId, attempts: attempt, reason }]);
    if (!ended.has(incidentId)) return;
    await releaseFollowers(tx, ended, now);
    const text = describeFailure(reason, null);
    if (kept.has(incidentId)) await addLines(tx, [{ incidentId, kind: "evidence", at: now, text }]);
    await releaseHeldMail(tx, [incidentId], now);
  });
}
