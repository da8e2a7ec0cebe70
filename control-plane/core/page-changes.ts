import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { notifyAccounts, notifyAll } from "#control-plane/core/page-changes-store.ts";

/** Notification channel of changes that status pages show: the id of an account, or ADDRESSES. */
const CHANNEL = "vantage_status_pages";
const ADDRESSES = "addresses";

/**
 * Makes every replica read the status pages of these accounts again. Call it in the transaction that changes something
 * that pages show: a status, a monitor's name, an incident, a maintenance window.
 */
export async function noteAccountChanged(tx: Queryable, accountIds: readonly number[]): Promise<void> {
  if (accountIds.length > 0) await notifyAccounts(tx, CHANNEL, accountIds);
}

/**
 * Makes every replica read the pages of an account again, and look up all slugs and domains again. Call it in the
 * transaction that writes a page, while the page exists.
 */
export async function notePageChanged(tx: Queryable, accountId: number): Promise<void> {
  await noteAccountChanged(tx, [accountId]);
  await notifyAll(tx, CHANNEL, ADDRESSES);
}

/** What a replica does when pages change. */
interface ChangeListener {
  readonly accountChanged: (accountId: number) => void;
  /** A slug or a domain can have another page, or none. */
  readonly addressesChanged: () => void;
  /** Notifications may have been lost. */
  readonly reset: () => void;
}

/** Listens to the changes of every replica. */
export function onPageChanges(notifications: Notifications, listener: ChangeListener): void {
  const onMessage = (payload: string): void => {
    if (payload === ADDRESSES) listener.addressesChanged();
    else listener.accountChanged(Number(payload));
  };
  notifications.listen(CHANNEL, onMessage, () => listener.reset());
}
