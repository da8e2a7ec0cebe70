import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { releaseOutageMail } from "#control-plane/notify/deliveries/release/outage-mail.ts";
import {
  CAUSE_MS,
  planRound,
  type FailReason,
  type FailedRow,
  type Leader,
  type SharedRow,
} from "#control-plane/watching/evidence/claims/plan.ts";
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
  lockLeaders,
  shareRows,
  type ClaimedRow,
} from "#control-plane/watching/evidence/claims/store.ts";
import { keepMonitors, lockIncident, lockIncidents } from "#control-plane/watching/evidence/timeline-store.ts";
import { addLines } from "#control-plane/outages/incidents/outages/outages.ts";
import { describeSharing } from "#control-plane/watching/evidence/shared.ts";

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
    await releaseOutageMail(tx, [incidentId, ...(await findFollowers(tx, incidentId))], gatheredAt);
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
    await releaseOutageMail(tx, [incidentId], now);
  });
}

/** What a round has decided about rows for which nothing is gathered now. */
interface Unclaimed {
  readonly shared: readonly SharedRow[];
  readonly failed: readonly FailedRow[];
  /** Rows that were claimed, and whose monitor was deleted. */
  readonly lost: readonly ClaimedRow[];
}

/** Numbers of rows. */
interface Settled {
  readonly settled: number;
  /** Rows that are due again, because nothing was gathered for the outage whose evidence they were to share. */
  readonly released: number;
}

/**
 * Settles these rows, whose accounts are locked, with a line in the timeline of each incident whose monitor exists, and
 * lets the mails go that wait. Rows whose incident or leader another transaction has locked stay due.
 */
async function settleUnclaimed(tx: Transaction, { shared, failed, lost }: Unclaimed, now: Date): Promise<Settled> {
  const leaders = await lockLeadersOf(tx, shared, lost);
  const following = shared.filter(({ leader }) => leaders.has(leader.incidentId));
  const { kept, gone } = await splitByMonitor(tx, [...following, ...failed]);
  const follows = following.filter((one) => kept.has(one));
  const failures = failed.filter((one) => kept.has(one));
  if (follows.length > 0) await shareRows(tx, follows.map(toPair));
  const ended = [
    ...failures.map(({ row, reason }) => ({ ...row, reason })),
    ...[...gone.map(({ row }) => row), ...lost].map((row) => ({ ...row, reason: null })),
  ];
  const released = ended.length === 0 ? 0 : await releaseFollowers(tx, await failRows(tx, ended), now);
  await addLines(tx, [
    ...follows.map(({ row, leader }) => lineFor(row, describeSharing(dated(row), dated(leader)), now)),
    ...failures.map(({ row, reason, similar }) => lineFor(row, describeFailure(reason, similar), now)),
  ]);
  const ready = follows.filter(({ leader }) => leaders.get(leader.incidentId)?.isGathered === true);
  const complete = [...ready.map(({ row }) => row), ...ended];
  await releaseOutageMail(
    tx,
    complete.map(({ incidentId }) => incidentId),
    now,
  );
  return { settled: follows.length + ended.length, released };
}

/** Locks the rows whose evidence is to be shared; not those whose own monitor was deleted. */
async function lockLeadersOf(
  tx: Transaction,
  shared: readonly SharedRow[],
  lost: readonly ClaimedRow[],
): ReturnType<typeof lockLeaders> {
  const gone = new Set(lost.map(({ incidentId }) => incidentId));
  const ids = [...new Set(shared.map(({ leader }) => leader.incidentId))].filter((id) => !gone.has(id));
  return ids.length === 0 ? new Map() : lockLeaders(tx, ids);
}

/** Splits what can be settled now by whether the monitor exists, and keeps those monitors until the transaction ends. */
async function splitByMonitor<T extends SharedRow | FailedRow>(
  tx: Transaction,
  all: readonly T[],
): Promise<{ readonly kept: ReadonlySet<SharedRow | FailedRow>; readonly gone: readonly T[] }> {
  if (all.length === 0) return { kept: new Set(), gone: [] };
  const locked = await lockIncidents(
    tx,
    all.map(({ row }) => row.incidentId),
  );
  const monitored = await keepMonitors(tx, locked);
  const settling = all.filter(({ row }) => locked.has(row.incidentId));
  return {
    kept: new Set<SharedRow | FailedRow>(settling.filter(({ row }) => monitored.has(row.incidentId))),
    gone: settling.filter(({ row }) => !monitored.has(row.incidentId)),
  };
}

function toPair({ row, leader }: SharedRow) {
  return { incidentId: row.incidentId, sharedWith: leader.incidentId };
}

function dated({ confirmedAt, ...rest }: Leader) {
  return { ...rest, confirmedAt: new Date(confirmedAt) };
}

function lineFor({ incidentId }: Leader, text: string, at: Date) {
  return { incidentId, kind: "evidence" as const, at, text };
}

const WORDS: Readonly<Record<FailReason, string>> = {
  interrupted: "it was interrupted twice",
  too_many: "too many outages of this account were confirmed within a minute",
  target_busy: "evidence of other outages at this target was gathered within a minute",
  too_late: "it could not begin within 2 minutes, because too many outages were confirmed",
  internal_error: "of an internal error",
};

/** Maximum length of a host in a line, characters. */
const MOST_HOST = 100;

/**
 * Writes the line in the timeline of an outage without evidence. `similar`: another outage of the account with the same
 * word of cause, whose evidence can help; null: none is known.
 */
function describeFailure(reason: FailReason, similar: Pick<Leader, "incidentId" | "host"> | null): string {
  const text = `No evidence was gathered, because ${WORDS[reason]}`;
  if (similar === null) return text;
  const host = similar.host === "" ? "" : ` (host ${similar.host.slice(0, MOST_HOST)})`;
  return `${text}; incident ${similar.incidentId}${host} has the same kind of cause`;
}
