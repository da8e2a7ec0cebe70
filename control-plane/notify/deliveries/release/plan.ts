import type { Channel } from "#control-plane/notify/deliveries/delivery.ts";

/** A delivery that was not released yet. */
export interface WaitingDelivery {
  readonly id: number;
  /** The monitor that its event is about; null if it is about none. */
  readonly monitorId: number | null;
  /** Whether the monitor changes too often. */
  readonly isFlapping: boolean;
  /** Whether it is the notice of the flapping: what waits about the monitor travels with it. */
  readonly isFlappingNotice: boolean;
  /** Why it was deferred when it was last planned; null if it is new. */
  readonly heldBy: "window" | "flapping" | "evidence" | "visitors" | null;
}

/** A delivery with its receiver. */
export interface ReceiverDelivery extends WaitingDelivery {
  readonly receiverId: number;
  /** Whether it still waits for the evidence of its outage, or until a status page shows the outage. */
  readonly isEarly: boolean;
}

/** What was released for a receiver lately. */
export interface RecentReleases {
  /** Number of deliveries released within WINDOW_MS, and the time of the newest; null if there is none. */
  readonly count: number;
  readonly lastAt: Date | null;
  /** Time of the newest release within the pause of flapping monitors, by monitor. */
  readonly lastByMonitor: ReadonlyMap<number, Date>;
}

/** A delivery that waits, and until when. */
export interface DeferredDelivery {
  readonly id: number;
  readonly until: Date;
  readonly by: "window" | "flapping";
}

/** What happens to the waiting deliveries of one receiver. Each is in one message or deferred. */
interface ReleasePlan {
  /** Messages to send now: ids of the deliveries that travel together, the oldest first. */
  readonly messages: readonly (readonly number[])[];
  readonly deferred: readonly DeferredDelivery[];
}

/** Time in which deliveries to one receiver are counted, milliseconds. */
export const WINDOW_MS = 30_000;
/** Maximum number of separate messages to one receiver in this time. */
const MOST_SEPARATE = 4;
/**
 * Longest time that deliveries about a flapping monitor wait after the last message about it, milliseconds. Mails to the
 * account wait for the notice that it is still flapping, which comes every 30 minutes.
 */
export const FLAPPING_MS = { mail: 1_860_000, page: 600_000, webhook: 0 } as const satisfies Record<Channel, number>;

/**
 * Plans the release of everything that waits for one receiver, oldest first, so that an outage of many monitors is one
 * message. Up to four deliveries within 30 s go out separately. Later ones wait until 30 s have passed since the last
 * of them, and travel together; so do five or more that are due at the same time, without waiting. Deliveries about a
 * flapping monitor wait for a notice of its flapping and travel with it; without one they follow each other at intervals
 * of at least `flappingMs`, and those that waited travel together.
 */
export function planRelease(
  waiting: readonly WaitingDelivery[],
  recent: RecentReleases,
  now: Date,
  flappingMs: number,
): ReleasePlan {
  const { ready, deferred } = splitByFlapping(waiting, recent.lastByMonitor, now, flappingMs);
  const messages = ready.map((message) => message.map(({ id }) => id));
  const ids = messages.flat().toSorted((a, b) => a - b);
  if (ids.length === 0) return { messages: [], deferred };
  const isWaitOver = ready.some((message) => message.some(({ heldBy }) => heldBy === "window"));
  const fits = !isWaitOver && recent.count + ids.length <= MOST_SEPARATE;
  if (recent.lastAt === null) return { messages: fits ? messages : [ids], deferred };
  if (fits) return { messages, deferred };
  const until = new Date(recent.lastAt.getTime() + WINDOW_MS);
  return { messages: [], deferred: [...deferred, ...ids.map((id) => ({ id, until, by: "window" }) as const)] };
}

/**
 * Returns what can be planned now: a mail about an outage waits for its evidence, or until the page shows it, unless a
 * later one about the same monitor waits too. The order of the mails about a monitor is that of its events.
 */
export function withoutEarly(waiting: readonly ReceiverDelivery[]): readonly ReceiverDelivery[] {
  return waiting.filter(
    (one) =>
      !one.isEarly ||
      waiting.some(({ id, receiverId, monitorId }) => {
        return id > one.id && receiverId === one.receiverId && monitorId === one.monitorId;
      }),
  );
}

/** Holds what is about a flapping monitor and too early; groups the rest into messages. */
function splitByFlapping(
  waiting: readonly WaitingDelivery[],
  lastByMonitor: ReadonlyMap<number, Date>,
  now: Date,
  flappingMs: number,
): { readonly ready: readonly (readonly WaitingDelivery[])[]; readonly deferred: readonly DeferredDelivery[] } {
  const ready: (readonly WaitingDelivery[])[] = [];
  const deferred: DeferredDelivery[] = [];
  for (const [monitorId, all] of Map.groupBy(waiting, (delivery) => delivery.monitorId)) {
    const withNotice = all.slice(0, all.findLastIndex(({ isFlappingNotice }) => isFlappingNotice) + 1);
    if (withNotice.length > 0) ready.push(withNotice);
    const group = all.slice(withNotice.length);
    if (group.length === 0) continue;
    const isFlapping = group.at(-1)?.isFlapping === true;
    const last = monitorId === null ? undefined : lastByMonitor.get(monitorId);
    const until = new Date((withNotice.length > 0 ? now.getTime() : (last?.getTime() ?? 0)) + flappingMs);
    if (monitorId === null) {
      ready.push(...group.map((delivery) => [delivery]));
    } else if (isFlapping && now < until) {
      deferred.push(...group.map(({ id }) => ({ id, until, by: "flapping" }) as const));
    } else if (isFlapping || group.some(({ heldBy }) => heldBy === "flapping")) {
      ready.push(group);
    } else {
      ready.push(...group.map((delivery) => [delivery]));
    }
  }
  return { ready: ready.toSorted((a, b) => (a[0]?.id ?? 0) - (b[0]?.id ?? 0)), deferred };
}
