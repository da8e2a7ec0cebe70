import type { Transaction } from "#control-plane/core/database/connect.ts";
import { releaseOutages } from "#control-plane/notify/deliveries/release/store.ts";

/** Makes the mails about outages due that wait for their evidence. The queue plans them within milliseconds of the commit. */
export async function releaseOutageMail(tx: Transaction, incidentIds: readonly number[], now: Date): Promise<void> {
  if (incidentIds.length > 0) await releaseOutages(tx, incidentIds, now);
}
