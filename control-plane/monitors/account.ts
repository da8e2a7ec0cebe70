import type { Accounts } from "#control-plane/accounts/accounts.ts";
import { removeChecks } from "#control-plane/watching/checking/schedule/schedule.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { isAccountMailed, readEmail } from "#control-plane/monitors/account-store.ts";
import { applyPlan } from "#control-plane/monitors/allowance.ts";
import { showMonitors, type ShowDeps } from "#control-plane/monitors/show.ts";
import { monitorsInSteps } from "#control-plane/monitors/steps.ts";
import { lockMonitors, readIds } from "#control-plane/monitors/store.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";

/** Number of monitors that are shown at once. */
const STEP = 100;

/**
 * Makes monitors follow their accounts, in the transactions of those: they are part of the data export, keep to a changed
 * plan, ask a new address for its confirmation, and are checked no more once the account is erased.
 */
export function followAccounts(accounts: Accounts, deps: WriteDeps & ShowDeps): void {
  accounts.addExporter("monitors", (tx, accountId) => exportViews(deps, tx, accountId));
  accounts.onChange((tx, accountId) => applyPlan(deps, tx, accountId));
  accounts.onAddress((tx, accountId) => askAddress(deps, tx as Transaction, accountId));
  accounts.onErase((tx, accountId) => endChecks(tx as Transaction, accountId));
}

/** Returns the monitors of an account for its data export, without statistics. */
async function exportViews(deps: ShowDeps, tx: Queryable, accountId: number): Promise<readonly MonitorView[]> {
  const views: MonitorView[] = [];
  for await (const step of monitorsInSteps(tx, accountId, STEP)) {
    const shown = await showMonitors(deps, tx, step, new Map());
    // No key is needed to send pings to the address of a heartbeat: it stays out of files.
    views.push(...shown.map((view) => ({ ...view, heartbeat_url: null })));
  }
  return views;
}

/** Asks the owner of an account's new address to confirm it, if a monitor mails to it. */
async function askAddress({ mail }: WriteDeps, tx: Transaction, accountId: number): Promise<void> {
  const email = await readEmail(tx, accountId);
  if (email === null || !(await isAccountMailed(tx, accountId))) return;
  await mail.recipients.ensureRecipients(tx, accountId, [email]);
}

/** Ends the checks of an account that is erased, once it is locked. */
async function endChecks(tx: Transaction, accountId: number): Promise<void> {
  const ids = await readIds(tx, accountId);
  await lockMonitors(tx, ids);
  await removeChecks(tx, ids);
}
