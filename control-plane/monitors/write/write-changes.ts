import {
  changeChecks,
  planChecks,
  removeChecks,
  replanChecks,
} from "#control-plane/watching/checking/schedule/schedule.ts";
import { setMembers } from "#control-plane/outages/composites.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import {
  lockHeartbeats,
  removeHeartbeats,
  rescheduleHeartbeats,
} from "#control-plane/watching/heartbeats/heartbeats.ts";
import { sealSecrets, secretsOf } from "#control-plane/outages/kinds/secrets.ts";
import { basisOf } from "#control-plane/outages/kinds/visual.ts";
import type { MonitorAccount } from "#control-plane/monitors/account-store.ts";
import { rowOf, scheduleOf } from "#control-plane/monitors/draft.ts";
import { recipientsOf } from "#control-plane/monitors/show.ts";
import { updateMonitors, type StoredMonitor } from "#control-plane/monitors/store.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import type { DraftedChange } from "#control-plane/monitors/write/draft-change.ts";
import { resetMonitors } from "#control-plane/monitors/write/states.ts";
import { noteAccountChanged } from "#control-plane/core/page-changes.ts";
import { beginPictures, removePictures } from "#control-plane/watching/pictures/monitor-pictures.ts";
import type { Plan } from "#control-plane/core/plans.ts";

/** A change and the monitor as it is written. */
interface WrittenChange extends DraftedChange {
  readonly after: StoredMonitor;
}

/**
 * Writes changes of different locked monitors that are vetted and differ, with all that follows from them. It takes the
 * same number of statements for one monitor as for many. Returns the monitors as they are afterwards, in their order.
 */
export async function writeChanges(
  deps: WriteDeps,
  tx: Transaction,
  account: MonitorAccount,
  drafted: readonly DraftedChange[],
): Promise<readonly StoredMonitor[]> {
  if (drafted.length === 0) return [];
  const { clock, encryption, plans } = deps;
  const rows = drafted.map(({ stored, present, draft }) => {
    const pausedReason = draft.is_active === present.is_active ? stored.pausedReason : null;
    const secrets = sealSecrets(encryption, secretsOf(draft));
    return rowOf(draft, { id: stored.id, accountId: account.id, pausedReason, secrets });
  });
  const written = await updateMonitors(tx, rows, clock.now());
  const changes = drafted.map((one): WrittenChange => {
    const after = written.get(one.stored.id);
    if (after === undefined) throw new Error("a monitor of a locked account is missing");
    return { ...one, after };
  });
  const composites = changes.filter(
    ({ stored, after }) => stored.settings.composite !== null || after.settings.composite !== null,
  );
  await setMembers(
    tx,
    composites.map(({ after }) => ({ id: after.id, memberIds: after.settings.composite?.monitor_ids ?? [] })),
  );
  await changeObjects(deps, tx, changes);
  await changeSchedules(deps, tx, changes, plans[account.plan]);
  const mailed = changes.filter(({ draft }) => draft.notify_email);
  const emails = new Set(mailed.flatMap(({ after }) => recipientsOf(after, account.email)));
  if (emails.size > 0) await deps.mail.recipients.ensureRecipients(tx, account.id, [...emails]);
  await noteAccountChanged(tx, [account.id]);
  return changes.map(({ after }) => after);
}

/** Carries changes over to the pictures and the addresses that monitors of some kinds have. */
async function changeObjects(
  { heartbeats }: WriteDeps,
  tx: Transaction,
  changes: readonly WrittenChange[],
): Promise<void> {
  const restarted = changes.filter(({ change }) => change.isNewStart);
  const seen = restarted.filter(({ stored }) => stored.settings.visual !== null);
  if (seen.length > 0) await removePictures(tx, idsOf(seen));
  const begun = restarted.flatMap(({ after: { id, url, settings } }) =>
    settings.visual === null ? [] : [{ id, basis: basisOf(url, settings.visual) }],
  );
  if (begun.length > 0) await beginPictures(tx, begun);
  const left = changes.filter(
    ({ stored, after }) => stored.settings.heartbeat !== null && after.settings.heartbeat === null,
  );
  if (left.length > 0) await removeHeartbeats(tx, idsOf(left));
  const made = changes.filter(
    ({ stored, after }) => stored.settings.heartbeat === null && after.settings.heartbeat !== null,
  );
  if (made.length > 0) await heartbeats.insert(tx, idsOf(made));
}

/** Carries changes over to the planned checks and to what is known. */
async function changeSchedules(
  { clock }: WriteDeps,
  tx: Transaction,
  changes: readonly WrittenChange[],
  plan: Plan,
): Promise<void> {
  const now = clock.now();
  const stopped = changes.filter(({ stored, after }) => stored.isActive && !after.isActive);
  const paused = changes.filter(({ stored, after, change }) => {
    return !after.isActive && (stored.isActive || change.isNewStart);
  });
  const active = changes.filter(({ after }) => after.isActive);
  const resumed = active.filter(({ stored }) => !stored.isActive);
  const replanned = active.filter(({ stored, change }) => stored.isActive && change.isNewStart);
  const kept = active.filter(({ stored, change }) => stored.isActive && !change.isNewStart);
  const moved = kept.filter(({ change }) => change.isRescheduled);
  const expected = kept.flatMap(({ after: { id, settings }, change }) =>
    change.isExpectedOtherwise && settings.heartbeat !== null ? [{ id, settings: settings.heartbeat }] : [],
  );
  const restarted = [...resumed, ...replanned];
  const plannedOf = (some: readonly WrittenChange[]) => some.map(({ after }) => scheduleOf(after, plan));
  // Two statements would lock them in two runs, and pings lock theirs in one.
  if (expected.length > 0 && paused.length + restarted.length > 0) await lockHeartbeats(tx, idsOf(changes));
  if (stopped.length > 0) await removeChecks(tx, idsOf(stopped));
  if (paused.length > 0) await resetMonitors(tx, idsOf(paused), "paused", now);
  if (resumed.length > 0) await planChecks(tx, plannedOf(resumed), now);
  if (replanned.length > 0) await replanChecks(tx, plannedOf(replanned), now);
  if (restarted.length > 0) await resetMonitors(tx, idsOf(restarted), "restarted", now);
  if (moved.length > 0) await changeChecks(tx, plannedOf(moved), now);
  if (expected.length > 0) await rescheduleHeartbeats(tx, expected, now);
}

function idsOf(changes: readonly WrittenChange[]): readonly number[] {
  return changes.map(({ after }) => after.id);
}
