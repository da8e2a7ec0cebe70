import { describe, expect, it } from "vitest";
import type { Ping } from "#control-plane/heartbeats/ping.ts";
import { createPingQueue } from "#control-plane/heartbeats/pings/queue.ts";

const ping = (receivedAt: number, body: string | null = null): Ping => ({
  kind: "success",
  exitCode: null,
  receivedAt,
  rid: null,
  method: "GET",
  remoteAddr: "192.0.2.1",
  userAgent: null,
  body,
  isBodyTruncated: false,
});

const added = (receivedAt: number, kind: "success" | "fail" = "success", since = 0, body: string | null = null) => ({
  signal: { kind, exitCode: null },
  ping: { ...ping(receivedAt, body), kind },
  waiter: { since, resolve: () => {}, reject: () => {} },
});

describe("the queue of pings", () => {
  it("takes each address once, in the order of arrival, and again when it was finished", () => {
    const queue = createPingQueue();
    queue.add("a", added(1), false);
    queue.add("b", added(2), false);
    queue.add("a", added(3), false);
    const [a, b] = queue.take(10);
    expect(a?.taken.map(({ ping: { receivedAt } }) => receivedAt)).toEqual([1, 3]);
    expect(b?.taken.map(({ ping: { receivedAt } }) => receivedAt)).toEqual([2]);
    queue.add("a", added(4), false);
    expect(queue.take(10)).toEqual([]);
    expect(queue.hasWaiting()).toBe(false);
    if (a === undefined) throw new Error("no address was taken");
    // The second ping was not recorded: it comes before the one that arrived since.
    expect(queue.finish(a, 1).map((one) => one.ping.receivedAt)).toEqual([1]);
    expect(queue.take(10)[0]?.taken.map((one) => one.ping.receivedAt)).toEqual([3, 4]);
    expect(queue.size()).toBe(3);
  });

  it("merges equal pings of clients beyond the limit, and keeps the order of different ones", () => {
    const queue = createPingQueue();
    for (const [at, kind] of [
      [1, "success"],
      [2, "success"],
      [3, "fail"],
      [4, "success"],
      [5, "success"],
    ] as const) {
      queue.add("a", added(at, kind), true);
    }
    const [a] = queue.take(1);
    expect(a?.taken.map(({ ping: { kind, receivedAt } }) => [kind, receivedAt])).toEqual([
      ["success", 2],
      ["fail", 3],
      ["success", 5],
    ]);
    expect(a?.taken.flatMap(({ waiters }) => waiters)).toHaveLength(5);
  });

  it("holds at most 100 pings of one address, and answers the request of each", () => {
    const queue = createPingQueue();
    for (let at = 0; at < 150; at += 1) queue.add("a", added(at, at % 2 === 0 ? "success" : "fail"), false);
    const [a] = queue.take(1);
    expect(a?.taken).toHaveLength(100);
    expect(a?.taken.at(-1)?.ping.receivedAt).toBe(149);
    expect(queue.size()).toBe(150);
  });

  it("keeps 64 MiB of bodies", () => {
    const queue = createPingQueue();
    const half = "x".repeat(33_554_432);
    queue.add("a", added(1, "success", 0, half), false);
    queue.add("b", added(2, "success", 0, half), false);
    queue.add("c", added(3, "success", 0, "y"), false);
    const [a, , c] = queue.take(3);
    expect(c?.taken[0]?.ping).toMatchObject({ body: null, isBodyTruncated: true });
    if (a === undefined || c === undefined) throw new Error("an address is missing");
    queue.finish(a, 1);
    queue.finish(c, 1);
    queue.add("d", added(4, "success", 0, "y"), false);
    expect(queue.take(1)[0]?.taken[0]?.ping.body).toBe("y");
  });

  it("drops pings whose requests have waited too long", () => {
    const queue = createPingQueue();
    queue.add("a", added(1, "success", 10), false);
    queue.add("a", added(2, "success", 20), false);
    queue.add("b", added(3, "success", 10), false);
    expect(queue.dropBefore(15)).toHaveLength(2);
    expect(queue.size()).toBe(1);
    expect(queue.take(10).map(({ token }) => token)).toEqual(["a"]);
  });
});
