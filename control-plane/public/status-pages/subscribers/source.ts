import type { NewEvent, Receiver, ReceiverSource } from "#control-plane/notify/events/event.ts";
import { findReceivers, type EventSubjects } from "#control-plane/public/status-pages/subscribers/store.ts";

/** The parts of an event's data on which its receivers depend. */
interface SubjectData {
  readonly previous_status?: string;
  readonly monitor_ids?: readonly number[];
  readonly page_ids?: readonly number[];
  readonly tags?: readonly string[];
}

/**
 * Creates the source of the subscribers of status pages. They get outages and recoveries of monitors on their page, and
 * what people write for it.
 */
export function createSubscriberSource(isConfigured: boolean): ReceiverSource {
  return {
    channel: "page",
    // An outage of many monitors is one mail.
    isBundled: true,
    async find(tx, events) {
      const receivers = events.map((): Receiver[] => []);
      const subjects = subjectsOf(events);
      if (!isConfigured || subjects.monitors.length + subjects.pages.length + subjects.tags.length === 0) {
        return receivers;
      }
      for (const { event, id, email, afterMinutes } of await findReceivers(tx, subjects)) {
        const isOutage = events[event]?.type === "monitor.down" && afterMinutes > 0;
        const waitMs = isOutage ? afterMinutes * 60_000 : null;
        receivers[event]?.push({ receiverId: id, recipient: email, waitMs });
      }
      return receivers;
    },
  };
}

function subjectsOf(events: readonly NewEvent[]): EventSubjects {
  const told = events.map((event, index) => ({ ...event, index })).filter(isForSubscribers);
  return {
    monitors: told.flatMap(({ index, monitorId, data }) => {
      const ids = monitorId === null ? ((data as SubjectData).monitor_ids ?? []) : [monitorId];
      return ids.map((id) => ({ event: index, monitorId: id }));
    }),
    pages: told.flatMap(({ index, data }) =>
      ((data as SubjectData).page_ids ?? []).map((pageId) => ({ event: index, pageId })),
    ),
    tags: told.flatMap(({ index, accountId, data }) =>
      ((data as SubjectData).tags ?? []).map((tag) => ({ event: index, accountId, tag })),
    ),
  };
}

/** Slowness, and its end, is no incident. */
function isForSubscribers({ type, data }: NewEvent): boolean {
  switch (type) {
    case "monitor.down":
    case "page.incident":
    case "page.update":
    case "page.maintenance":
      return true;
    case "monitor.up":
      return (data as SubjectData).previous_status !== "degraded";
    default:
      return false;
  }
}
