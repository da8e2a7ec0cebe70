import type { NewEvent } from "#control-plane/notify/events/event.ts";

/** Something of which the subscribers of an account's status pages are informed. */
interface PageNews {
  readonly type: "page.incident" | "page.update" | "page.maintenance";
  readonly accountId: number;
  readonly at: Date;
  /** The field `data` of the event. */
  readonly data: object;
  /** null if it is about no incident. */
  readonly incidentId: number | null;
}

/** Describes news for the subscribers of status pages as an event. */
export function toPageEvent({ at, ...news }: PageNews): NewEvent {
  return { ...news, createdAt: at, monitorId: null, isFlapping: false };
}
