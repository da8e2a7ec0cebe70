import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { MonitorAccount } from "#control-plane/monitors/account-store.ts";
import { compareDrafts, draftOf, type DraftChange } from "#control-plane/monitors/draft.ts";
import { refuseWrite, type Refused, type Written } from "#control-plane/http/written.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { fillMasks } from "#control-plane/monitors/settings/masks.ts";
import { leaveSecrets } from "#control-plane/monitors/settings/new-origin.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import { vetUpdate } from "#control-plane/monitors/vet.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import type { Plan } from "#control-plane/core/plans.ts";

/** A change of a monitor before it is written. */
export interface DraftedChange {
  readonly stored: StoredMonitor;
  readonly present: MonitorDraft;
  readonly draft: MonitorDraft;
  readonly change: DraftChange;
  /** Secrets that the change removes: `body`, or `request_headers.` and the name of the field. */
  readonly removed: readonly string[];
}

/**
 * Applies fields to a monitor and checks them, but for what depends on others of the account: dependencies, members and
 * the number of active ones. Writes nothing.
 */
export function draftChange(
  { checks, encryption, plans }: Pick<WriteDeps, "checks" | "encryption" | "plans">,
  account: MonitorAccount,
  stored: StoredMonitor,
  given: Given,
): Written<DraftedChange> {
  const present = draftOf(stored, openSecrets(encryption, stored.secrets));
  const { base, given: applied, masks, removed } = leaveSecrets(present, given);
  const vetted = vetUpdate({ checks, accountId: account.id, plan: plans[account.plan] }, base, applied);
  if (!vetted.ok) return vetted;
  const { draft: unmasked } = fillMasks(vetted.value, masks, []);
  const draft = keepDefaultEmail(present, unmasked, account.email);
  return { ok: true, value: { stored, present, draft, change: compareDrafts(present, draft), removed } };
}

/** A response shows the account's address where no address is set: sent back, it still means the account's address. */
export function keepDefaultEmail(present: MonitorDraft, draft: MonitorDraft, email: string | null): MonitorDraft {
  if (present.notify_emails !== null || draft.notify_emails === null) return draft;
  const shown = email === null ? [] : [addressKey(email)];
  const isShown = JSON.stringify(draft.notify_emails.map(addressKey)) === JSON.stringify(shown);
  return isShown ? { ...draft, notify_emails: null } : draft;
}

/** Reports whether a change makes a paused monitor active. */
export function isResumed({ present, draft }: Pick<DraftedChange, "present" | "draft">): boolean {
  return draft.is_active && !present.is_active;
}

/** Returns the refusal of one more active monitor than the plan allows. */
export function refuseResumption(plan: Plan): Refused {
  const message = `The plan allows ${plan.monitors} active monitors; pause or delete another one first.`;
  return refuseWrite({ code: "plan_limit_exceeded", field: "is_active", message });
}
