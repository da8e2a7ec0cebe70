import { planChecks } from "#control-plane/watching/checking/schedule/schedule.ts";
import { compositeOf, setMembers } from "#control-plane/outages/composites.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { sealSecrets, secretsOf } from "#control-plane/outages/kinds/secrets.ts";
import { basisOf } from "#control-plane/outages/kinds/visual.ts";
import { lockAccount, type MonitorAccount } from "#control-plane/monitors/account-store.ts";
import { rowOf, scheduleOf } from "#control-plane/monitors/draft.ts";
import { refuseGone, refuseWrite, type Refused, type Written } from "#control-plane/http/written.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { LEAST_MEMBERS } from "#control-plane/outages/kinds/composite.ts";
import { recipientsOf } from "#control-plane/monitors/show.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import { vetCreation } from "#control-plane/monitors/vet.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import { vetMembers } from "#control-plane/monitors/write/members.ts";
import { vetDependency } from "#control-plane/monitors/write/dependency.ts";
import { beginPictures } from "#control-plane/watching/pictures/monitor-pictures.ts";
import type { Plan } from "#control-plane/core/plans.ts";
import { beginStates } from "#control-plane/outages/state/states.ts";

/** Creates a monitor. Returns its id. */
export async function createMonitor(
  deps: WriteDeps,
  tx: Transaction,
  accountId: number,
  given: Given,
): Promise<Written<number>> {
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  const full = refuseOverAllowance(account, deps.plans[account.plan], 1);
  const vetted = await vetNewMonitor(deps, tx, account, given, full);
  if (!vetted.ok) return vetted;
  const [id = 0] = await insertDrafts(deps, tx, account, [{ draft: vetted.value, parent: null }]);
  return { ok: true, value: id };
}

/**
 * Completes and checks a new monitor in all that a creation refuses, in its order. `full` is the refusal where the account
 * has too many monitors; null if it may have one more, or that does not matter.
 */
export async function vetNewMonitor(
  { checks, plans }: Pick<WriteDeps, "checks" | "plans">,
  tx: Transaction,
  account: MonitorAccount,
  given: Given,
  full: Refused | null,
): Promise<Written<MonitorDraft>> {
  const { id: accountId, plan } = account;
  const vetted = vetCreation({ checks, accountId, plan: plans[plan] }, given);
  if (!vetted.ok) return vetted;
  if (full !== null) return full;
  const dependency = await vetDependency(tx, accountId, null, vetted.value.depends_on);
  if (!dependency.ok) return dependency;
  const members = await vetMembers(tx, { accountId, id: null }, vetted.value, { present: null, least: LEAST_MEMBERS });
  return members.ok ? vetted : members;
}

/** Returns the refusal of more monitors than the plan allows, paused ones included; null if they are allowed. */
export function refuseOverAllowance(account: MonitorAccount, plan: Plan, added: number): Refused | null {
  if (account.total + added <= plan.monitors) return null;
  const more = added === 1 ? "" : ` The request would add ${added}.`;
  const message = `The plan allows ${plan.monitors} monitors, paused ones included; this account has ${account.total}.${more}`;
  return refuseWrite({ code: "plan_limit_exceeded", field: "monitors", message });
}

/** Creates monitors, all or none: drafts that are already checked, whose dependencies are indexes of this list. */
export async function insertDrafts(
  deps: WriteDeps,
  tx: Transaction,
  account: MonitorAccount,
  drafts: readonly { readonly draft: MonitorDraft; readonly parent: number | null }[],
): Promise<readonly number[]> {
  const { clock, encryption, plans } = deps;
  const plan = plans[account.plan];
  const ids = await reserveIds(tx, drafts.length);
  const rows = drafts.map(({ draft, parent }, index) =>
    rowOf(
      { ...draft, depends_on: parent === null ? draft.depends_on : (ids[parent] ?? null) },
      {
        id: ids[index] ?? 0,
        accountId: account.id,
        pausedReason: null,
        secrets: sealSecrets(encryption, secretsOf(draft)),
      },
    ),
  );
  await insertMonitors(tx, rows, clock.now());
  await beginStates(tx, ids);
  const heartbeats = rows.filter(({ settings }) => settings.heartbeat !== null);
  if (heartbeats.length > 0) {
    await deps.heartbeats.insert(
      tx,
      heartbeats.map(({ id }) => id),
    );
  }
  const visual = rows.flatMap(({ id, url, settings }) =>
    settings.visual === null ? [] : [{ id, basis: basisOf(url, settings.visual) }],
  );
  if (visual.length > 0) await beginPictures(tx, visual);
  await setMembers(tx, rows.flatMap(compositeOf));
  const active = rows.filter(({ isActive }) => isActive);
  const planned = active.map((row) => scheduleOf(row, plan));
  if (planned.length > 0) await planChecks(tx, planned, clock.now());
  const emails = new Set(
    rows.filter(({ settings }) => settings.notify_email).flatMap((row) => recipientsOf(row, account.email)),
  );
  if (emails.size > 0) await deps.mail.recipients.ensureRecipients(tx, account.id, [...emails]);
  return ids;
}
