import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { hashToken } from "#control-plane/watching/heartbeats/token.ts";
import { createReleasingMap } from "#control-plane/core/releasing-map.ts";

/** A ping that waits to be recorded, with the requests that wait for it. */
export interface WaitingPing {
  /** The newest one of those that were merged. */
  ping: Ping;
  readonly waiters: PingWaiter[];
}

/** A ping in the queue. */
interface QueuedPing extends WaitingPing {
  /** Whether an equal ping can take its place: it is beyond the limit of its client, which gets a 429. */
  readonly isMergeable: boolean;
  /** When the first one of those that were merged arrived, Unix milliseconds. */
  readonly arrivedAt: number;
}

/** A request that waits for its ping. */
interface PingWaiter {
  /** Monotonic milliseconds. */
  readonly since: number;
  /** Answers it: `nextExpected` is when the next ping is expected, Unix milliseconds. */
  readonly resolve: (nextExpected: number) => void;
  readonly reject: (error: Error) => void;
}

/** The pings to one address. */
export interface PingedToken {
  readonly token: string;
  readonly hash: Buffer;
  /** Those that are being recorded, in the order of arrival. */
  taken: readonly WaitingPing[];
}

interface QueuedToken extends PingedToken {
  taken: readonly QueuedPing[];
  waiting: QueuedPing[];
}

/** Maximum number of pings to one address that wait or are being recorded. Further ones are refused. */
const MOST_OF_TOKEN = 1_000;
/** Maximum size of all waiting bodies, in characters. Bodies beyond it are not kept. */
const MOST_BODIES = 67_108_864;

/** Pings of one replica that wait to be recorded. */
interface PingQueue {
  /**
   * Adds a ping behind the others to its address. `isMergeable`: it takes the place of the ping before it, if that one
   * is equal and mergeable too. Returns false, and adds nothing, if too many pings to the address wait.
   */
  add(token: string, added: { readonly ping: Ping; readonly waiter: PingWaiter }, isMergeable: boolean): boolean;
  /**
   * Takes the pings to up to `most` addresses, in the order of arrival. Those that were taken before and are not finished
   * wait again, ahead of the others to their addresses.
   */
  take(most: number): readonly PingedToken[];
  /** Removes the taken pings to an address, and returns them. */
  finish(pinged: PingedToken): readonly WaitingPing[];
  /** Removes the pings of which no request waits since this time or later, and returns their requests. */
  dropBefore(since: number): readonly PingWaiter[];
  /** Number of requests that wait. */
  size(): number;
  /** When the first of the pings arrived that wait or are being recorded, Unix milliseconds; null if there are none. */
  oldestArrival(): number | null;
}

/** Creates an empty queue. */
export function createPingQueue(): PingQueue {
  const tokens = createReleasingMap<string, QueuedToken>();
  let requests = 0;
  let bodies = 0;

  function bound(ping: Ping): Ping {
    const length = ping.body?.length ?? 0;
    if (bodies + length > MOST_BODIES) return { ...ping, body: null, isBodyTruncated: true };
    bodies += length;
    return ping;
  }

  function forget({ ping, waiters }: WaitingPing): void {
    bodies -= ping.body?.length ?? 0;
    requests -= waiters.length;
  }

  function release(token: string): void {
    const pinged = tokens.get(token);
    if (pinged?.taken.length === 0 && pinged.waiting.length === 0) tokens.delete(token);
  }

  return {
    add(token, { ping, waiter }, isMergeable) {
      const known = tokens.get(token);
      const last = known?.waiting.at(-1);
      if (last !== undefined && isMergeable && last.isMergeable && isSame(last, ping)) {
        bodies -= last.ping.body?.length ?? 0;
        last.ping = bound(ping);
        last.waiters.push(waiter);
        requests += 1;
        return true;
      }
      if (known !== undefined && known.taken.length + known.waiting.length >= MOST_OF_TOKEN) return false;
      const pinged = known ?? { token, hash: hashToken(token), taken: [], waiting: [] };
      if (known === undefined) tokens.set(token, pinged);
      const arrivedAt = ping.receivedAt;
      pinged.waiting.push({ ping: bound(ping), waiters: [waiter], isMergeable, arrivedAt });
      requests += 1;
      return true;
    },
    take(most) {
      const found: QueuedToken[] = [];
      for (const pinged of tokens.values()) {
        if (found.length === most) break;
        found.push(pinged);
        pinged.taken = [...pinged.taken, ...pinged.waiting];
        pinged.waiting = [];
      }
      return found;
    },
    finish(pinged) {
      const done = pinged.taken;
      for (const one of done) forget(one);
      pinged.taken = [];
      release(pinged.token);
      return done;
    },
    dropBefore(since) {
      const isKept = ({ waiters }: WaitingPing): boolean => waiters.some((waiter) => waiter.since >= since);
      const dropped: PingWaiter[] = [];
      for (const pinged of tokens.values()) {
        for (const one of [...pinged.taken, ...pinged.waiting]) {
          if (isKept(one)) continue;
          forget(one);
          dropped.push(...one.waiters);
        }
        pinged.taken = pinged.taken.filter(isKept);
        pinged.waiting = pinged.waiting.filter(isKept);
        release(pinged.token);
      }
      return dropped;
    },
    size: () => requests,
    oldestArrival() {
      let oldest = Infinity;
      for (const { taken, waiting } of tokens.values()) {
        for (const { arrivedAt } of taken) oldest = Math.min(oldest, arrivedAt);
        for (const { arrivedAt } of waiting) oldest = Math.min(oldest, arrivedAt);
      }
      return oldest === Infinity ? null : oldest;
    },
  };
}

/** Reports whether a ping says the same as one that waits. Only its time, client and body can differ. */
function isSame({ ping: last }: WaitingPing, ping: Ping): boolean {
  if (last.kind !== ping.kind || last.exitCode !== ping.exitCode) return false;
  return last.rid === ping.rid && last.method === ping.method;
}
