import type { EventType } from "#control-plane/notify/events/event.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import { EVENT_TYPES, NAMED_ONLY } from "#control-plane/notify/webhooks/resource.ts";
import type { WebhookFilter } from "#control-plane/notify/webhooks/webhook.ts";

/** The types that the smallest plan allows. */
const FREE_TYPES: ReadonlySet<EventType> = new Set(["monitor.down", "monitor.up", "test"]);

/** Returns the event types that a plan allows. */
export function typesOf(plan: PlanName): readonly EventType[] {
  return plan === "free" ? EVENT_TYPES.filter((type) => FREE_TYPES.has(type)) : EVENT_TYPES;
}

/** Returns the event types that a subscription gets; null if it names none. */
export function selectedTypes(plan: PlanName, events: readonly EventType[] | null): readonly EventType[] {
  return typesOf(plan).filter((type) => (events === null ? !NAMED_ONLY.has(type) : events.includes(type)));
}

/** An event as far as subscriptions select by it. */
interface MatchedEvent {
  readonly type: string;
  readonly monitorId: number | null;
  /** Tags of its monitor. */
  readonly tags: readonly string[];
}

/** A subscription as far as it selects events. */
interface Selection {
  readonly plan: PlanName;
  readonly events: readonly EventType[] | null;
  readonly filter: WebhookFilter | null;
}

/** Reports whether a subscription gets an event. An event about no monitor passes no filter. */
export function matchesEvent({ plan, events, filter }: Selection, event: MatchedEvent): boolean {
  const type = EVENT_TYPES.find((one) => one === event.type);
  if (type === undefined || !selectedTypes(plan, events).includes(type)) return false;
  if (filter === null) return true;
  if (event.monitorId === null) return false;
  return filter.monitor_ids.includes(event.monitorId) || filter.tags.some((tag) => event.tags.includes(tag));
}
