import { changeChecks, planChecks, removeChecks, replanChecks } from "#control-plane/checking/schedule/schedule.ts";
import { setMembers } from "#control-plane/composites/composites.ts";
import type { Transaction } from "#control-plane/database/connect.ts";
import { removeHeartbeat, rescheduleHeartbeat } from "#control-plane/heartbeats/heartbeats.ts";
import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import { openSecrets, sealSecrets, secretsOf } from "#control-plane/kinds/secrets.ts";
import { basisOf } from "#control-plane/kinds/visual.ts";
import { lockAccount } from "#control-plane/monitors/account/store.ts";
import { compareDrafts, draftOf, rowOf, scheduleOf, type DraftChange } from "#control-plane/monitors/draft.ts";
import { refuseAbsent, refuseGone, refuseWrite, type Written } from "#control-plane/http/written.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { fillMasks } from "#control-plane/monitors/settings/masks.ts";
import { leaveSecrets } from "#control-plane/monitors/settings/new-origin.ts";
import { LEAST_MEMBERS } from "#control-plane/kinds/composite.ts";
import { recipientsOf } from "#control-plane/monitors/show.ts";
import { findMonitor, lockMonitors, updateMonitor, type StoredMonitor } from "#control-plane/monitors/store.ts";
import { vetUpdate } from "#control-plane/monitors/vet.ts";
import type { OwnMonitor, WriteDeps } from "#control-plane/monitors/write/deps.ts";
import { vetMembers } from "#control-plane/monitors/write/members.ts";
import { vetDependency } from "#control-plane/monitors/write/dependency.ts";
import { resetMonitors } from "#control-plane/monitors/write/states.ts";
import { noteAccountChanged } from "#control-plane/page-changes/page-changes.ts";
import { beginPictures, removePictures } from "#control-plane/pictures/facts.ts";
import type { Plan } from "#control-plane/plans/plans.ts";

/** A monitor after a change. */
interface Changed {
  readonly monitor: StoredMonitor;
  /** Secrets that the change has removed: `body`, or `request_headers.` and the name of the field. */
  readonly removed: readonly string[];
}

/**
 * Changes a monitor. Returns it as it is afterwards. `leastMembers`: of the list that a composite gets; a document can
 * have one that has lost some.
 */
export async function changeMonitor(
  deps: WriteDeps,
  tx: Transaction,
  { accountId, id }: OwnMonitor,
  given: Given,
  leastMembers = LEAST_MEMBERS,
): Promise<Written<Changed>> {
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  const stored = await findMonitor(tx, accountId, id);
  if (stored === null) return refuseAbsent("monitor");
  await lockMonitors(tx, [id]);
  const { clock, encryption, plans } = deps;
  const plan = plans[account.plan];
  const present = draftOf(stored, openSecrets(encryption, stored.secrets));
  const { base, given: applied, masks, removed } = leaveSecrets(present, given);
  const vetted = vetUpdate({ checks: deps.checks, accountId, plan }, base, applied);
  if (!vetted.ok) return vetted;
  const { draft: unmasked } = fillMasks(vetted.value, masks, []);
  const draft = keepDefaultEmail(present, unmasked, account.email);
  const change = compareDrafts(present, draft);
  if (!change.isChanged) return { ok: true, value: { monitor: stored, removed } };
  if (draft.is_active && !present.is_active && account.active >= plan.monitors) {
    const message = `The plan allows ${plan.monitors} active monitors; pause or delete another one first.`;
    return refuseWrite({ code: "plan_limit_exceeded", field: "is_active", message });
  }
  if (draft.depends_on !== present.depends_on) {
    const dependency = await vetDependency(tx, accountId, id, draft.depends_on);
    if (!dependency.ok) return dependency;
  }
  const members = await vetMembers(tx, { accountId, id }, draft, { present, least: leastMembers });
  if (!members.ok) return members;
  const pausedReason = draft.is_active === present.is_active ? stored.pausedReason : null;
  const row = rowOf(draft, { id, accountId, pausedReason, secrets: sealSecrets(encryption, secretsOf(draft)) });
  const written = await updateMonitor(tx, row, clock.now());
  if (written === null) return refuseAbsent("monitor");
  if (stored.settings.composite !== null || written.settings.composite !== null) {
    await setMembers(tx, [{ id, memberIds: written.settings.composite?.monitor_ids ?? [] }]);
  }
  await applyToSchedule(deps, tx, { before: stored, after: written, change, plan });
  const emails = recipientsOf(written, account.email);
  if (draft.notify_email && emails.length > 0) await deps.mail.recipients.ensureRecipients(tx, accountId, emails);
  await noteAccountChanged(tx, [accountId]);
  return { ok: true, value: { monitor: written, removed } };
}

/** A response shows the account's address where no address is set: sent back, it still means the account's address. */
export function keepDefaultEmail(present: MonitorDraft, draft: MonitorDraft, email: string | null): MonitorDraft {
  if (present.notify_emails !== null || draft.notify_emails === null) return draft;
  const shown = email === null ? [] : [email.toLowerCase()];
  const isShown = JSON.stringify(draft.notify_emails.map((one) => one.toLowerCase())) === JSON.stringify(shown);
  return isShown ? { ...draft, notify_emails: null } : draft;
}

/** Carries a change over to the planned checks and to what is known. */
async function applyToSchedule(
  { clock, heartbeats }: WriteDeps,
  tx: Transaction,
  {
    before,
    after,
    change,
    plan,
  }: {
    readonly before: StoredMonitor;
    readonly after: StoredMonitor;
    readonly change: DraftChange;
    readonly plan: Plan;
  },
): Promise<void> {
  const ids = [after.id];
  const planned = scheduleOf(after, plan);
  const { heartbeat, visual } = after.settings;
  if (change.isNewStart && before.settings.visual !== null) await removePictures(tx, after.id);
  if (change.isNewStart && visual !== null) {
    await beginPictures(tx, [{ id: after.id, basis: basisOf(after.url, visual) }]);
  }
  if (heartbeat === null && before.settings.heartbeat !== null) await removeHeartbeat(tx, after.id);
  if (heartbeat !== null && before.settings.heartbeat === null) await heartbeats.insert(tx, ids);
  if (!after.isActive) {
    if (before.isActive) await removeChecks(tx, ids);
    if (before.isActive || change.isNewStart) await resetMonitors(tx, ids, "paused", clock.now());
  } else if (!before.isActive) {
    await planChecks(tx, [planned], clock.now());
    await resetMonitors(tx, ids, "restarted", clock.now());
  } else if (change.isNewStart) {
    await replanChecks(tx, planned, clock.now());
    await resetMonitors(tx, ids, "restarted", clock.now());
  } else {
    if (change.isRescheduled) await changeChecks(tx, [planned], clock.now());
    if (change.isExpectedOtherwise && heartbeat !== null) {
      await rescheduleHeartbeat(tx, { id: after.id, settings: heartbeat }, clock.now());
    }
  }
}
