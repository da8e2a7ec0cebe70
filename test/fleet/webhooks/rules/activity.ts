import type { Subscription, SubscriptionChange } from "#test/fleet/webhooks/records.ts";

/** What is known of a subscription in a time. */
export type Activity = "active" | "inactive" | "unsure";

/**
 * Adds a change to those of a subscription. If the receiver answered 410 meanwhile, the order is not known, and neither is
 * what the subscription is afterwards.
 */
export function addChange(changes: SubscriptionChange[], change: SubscriptionChange): void {
  const isOverlapping = changes.some(({ to }) => to >= change.from);
  changes.push(isOverlapping ? { ...change, isActive: null } : change);
}

/** Returns whether a subscription was active during the whole of a time, during none of it, or that this is not known. */
export function activityOf({ changes }: Subscription, from: number, to: number): Activity {
  let before: Activity = "inactive";
  for (const change of changes) {
    if (change.from > to) break;
    if (change.to >= from) return "unsure";
    before = change.isActive === null ? "unsure" : change.isActive ? "active" : "inactive";
  }
  return before;
}

/** Reports whether a subscription can have been inactive at any moment after its creation. */
export function canHaveBeenInactive({ changes }: Subscription): boolean {
  return changes.some(({ isActive }) => isActive !== true);
}
