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
  /** Takes the waiting pings of up to `most` addresses of which none is taken, in the order of arrival. */
  take(most: number): readonly PingedToken[];
  /** Ends the taking of an address: its first pings were recorded, and are returned; the others wait again. */
  finish(pinged: PingedToken, recorded: number): readonly WaitingPing[];
  /** Removes the requests that wait since before a time from pings that are not taken, and returns them. */
  dropBefore(since: number): readonly PingWaiter[];
  /** Whether any address has pings that can be taken. */
  hasWaiting(): boolean;
  /** Number of requests that wait. */
  size(): number;
  /** When the first of the pings arrived that wait or are being recorded, Unix milliseconds; null: there are none. */
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
      const found: PingedToken[] = [];
      for (const pinged of tokens.values()) {
        if (found.length === most) break;
        if (pinged.taken.length > 0 || pinged.waiting.length === 0) continue;
        pinged.taken = pinged.waiting;
        pinged.waiting = [];
        found.push(pinged);
      }
      return found;
    },
    finish({ token }, recorded) {
      const pinged = tokens.get(token);
      if (pinged === undefined) return [];
      const done = pinged.taken.slice(0, recorded);
      for (const one of done) forget(one);
      pinged.waiting = [...pinged.taken.slice(recorded), ...pinged.waiting];
      pinged.taken = [];
      if (pinged.waiting.length === 0) tokens.delete(token);
      return done;
    },
    dropBefore(since) {
      const dropped: PingWaiter[] = [];
      for (const pinged of tokens.values()) {
        const kept = pinged.waiting.filter((one) => one.waiters.some((waiter) => waiter.since >= since));
        if (kept.length === pinged.waiting.length) continue;
        for (const one of pinged.waiting) {
          if (kept.includes(one)) continue;
          forget(one);
          dropped.push(...one.waiters);
        }
        pinged.waiting = kept;
        if (kept.length === 0 && pinged.taken.length === 0) tokens.delete(pinged.token);
      }
      return dropped;
    },
    hasWaiting() {
      for (const { taken, waiting } of tokens.values()) if (taken.length === 0 && waiting.length > 0) return true;
      return false;
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
