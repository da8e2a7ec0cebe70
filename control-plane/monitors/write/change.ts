import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { lockAccount } from "#control-plane/monitors/account-store.ts";
import { refuseAbsent, refuseGone, type Written } from "#control-plane/http/written.ts";
import { differencesOf } from "#control-plane/monitors/changed-fields.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { LEAST_MEMBERS } from "#control-plane/outages/kinds/composite.ts";
import { findMonitor, lockMonitors, type StoredMonitor } from "#control-plane/monitors/store.ts";
import type { OwnMonitor, WriteDeps } from "#control-plane/monitors/write/deps.ts";
import {
  draftChange,
  isResumed,
  refuseResumption,
  type DraftedChange,
} from "#control-plane/monitors/write/draft-change.ts";
import { vetMembers } from "#control-plane/monitors/write/members.ts";
import { vetDependency } from "#control-plane/monitors/write/dependency.ts";
import { writeChanges } from "#control-plane/monitors/write/write-changes.ts";

/** A monitor after a change. */
interface Changed {
  readonly monitor: StoredMonitor;
  /** For the log of changes. */
  readonly changed: readonly ChangedField[];
  /** Secrets that the change has removed: `body`, or `request_headers.` and the name of the field. */
  readonly removed: readonly string[];
}

/** Changes a monitor. Returns it as it is afterwards. */
export async function changeMonitor(
  deps: WriteDeps,
  tx: Transaction,
  { accountId, id }: OwnMonitor,
  given: Given,
): Promise<Written<Changed>> {
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  const stored = await findMonitor(tx, accountId, id);
  if (stored === null) return refuseAbsent("monitor");
  await lockMonitors(tx, [id]);
  const plan = deps.plans[account.plan];
  const drafted = draftChange(deps, account, stored, given);
  if (!drafted.ok) return drafted;
  const { present, draft, change, removed } = drafted.value;
  if (!change.isChanged) return { ok: true, value: { monitor: stored, changed: [], removed } };
  if (isResumed(drafted.value) && account.active >= plan.monitors) return refuseResumption(plan);
  const references = await vetReferences(tx, { accountId, id }, { present, draft });
  if (!references.ok) return references;
  const [monitor = stored] = await writeChanges(deps, tx, account, [drafted.value]);
  return { ok: true, value: { monitor, changed: differencesOf(present, draft), removed } };
}

/** Checks what a changed monitor refers to, as far as it changes: the monitor on which it depends, and its members. */
export async function vetReferences(
  tx: Transaction,
  { accountId, id }: OwnMonitor,
  { present, draft }: Pick<DraftedChange, "present" | "draft">,
): Promise<Written<null>> {
  if (draft.depends_on !== present.depends_on) {
    const dependency = await vetDependency(tx, accountId, id, draft.depends_on);
    if (!dependency.ok) return dependency;
  }
  return vetMembers(tx, { accountId, id }, draft, { present, least: LEAST_MEMBERS });
}
