import type { Transaction } from "#control-plane/core/database/connect.ts";
import { releaseHeldMail } from "#control-plane/notify/deliveries/release/held.ts";
import type { FailedRow, Leader, SharedRow } from "#control-plane/watching/evidence/claims/plan.ts";
import {
  failRows,
  lockLeaders,
  releaseFollowers,
  shareRows,
  type HeldRow,
} from "#control-plane/watching/evidence/claims/store.ts";
import { describeFailure } from "#control-plane/watching/evidence/claims/words.ts";
import { describeSharing } from "#control-plane/watching/evidence/shared.ts";
import { keepMonitors, lockIncidents } from "#control-plane/watching/evidence/timeline/store.ts";
import { addLines } from "#control-plane/outages/incidents/outages/outages.ts";

/** What a round has decided about rows for which nothing is gathered now. */
interface Unclaimed {
  readonly shared: readonly SharedRow[];
  readonly failed: readonly FailedRow[];
  /** Rows that were claimed, and whose monitor was deleted. */
  readonly lost: readonly HeldRow[];
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
export async function settleUnclaimed(
  tx: Transaction,
  { shared, failed, lost }: Unclaimed,
  now: Date,
): Promise<Settled> {
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
  await releaseHeldMail(
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
  lost: readonly HeldRow[],
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
