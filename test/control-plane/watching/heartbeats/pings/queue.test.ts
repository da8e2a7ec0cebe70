import { describe, expect, it } from "vitest";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { createPingQueue } from "#control-plane/watching/heartbeats/pings/queue.ts";

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
  ping: { ...ping(receivedAt, body), kind },
  waiter: { since, resolve: () => {}, reject: () => {} },
});

describe("the queue of pings", () => {
  it("takes each address once, in the order of arrival, and again with what was not finished", () => {
    const queue = createPingQueue();
    queue.add("a", added(1), false);
    queue.add("b", added(2), false);
    queue.add("a", added(3), false);
    const [a, b] = queue.take(10);
    expect(a?.taken.map(({ ping: { receivedAt } }) => receivedAt)).toEqual([1, 3]);
    expect(b?.taken.map(({ ping: { receivedAt } }) => receivedAt)).toEqual([2]);
    queue.add("a", added(4), false);
    queue.add("b", added(5), false);
    if (a === undefined || b === undefined) throw new Error("an address is missing");
    expect(queue.finish(b).map((one) => one.ping.receivedAt)).toEqual([2]);
    expect(queue.finish(b)).toEqual([]);
    // Those that were not recorded come before the one that arrived since.
    expect(queue.take(1)[0]?.taken.map((one) => one.ping.receivedAt)).toEqual([1, 3, 4]);
    expect(queue.finish(a)).toHaveLength(3);
    expect(queue.take(10).map(({ taken }) => taken.map((one) => one.ping.receivedAt))).toEqual([[5]]);
    expect(queue.size()).toBe(1);
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

  it("keeps a ping within the limit beside an equal one beyond it, which later ones take the place of", () => {
    const queue = createPingQueue();
    queue.add("a", added(1, "success", 0, "kept"), false);
    queue.add("a", added(2), true);
    queue.add("a", added(3), true);
    queue.add("a", added(4), false);
    queue.add("a", added(5), true);
    const [a] = queue.take(1);
    expect(a?.taken.map(({ ping: { receivedAt, body } }) => [receivedAt, body])).toEqual([
      [1, "kept"],
      [3, null],
      [4, null],
      [5, null],
    ]);
  });

  it("merges no pings of different runs, by different methods, or with different meanings", () => {
    const queue = createPingQueue();
    const one = added(1);
    const others = [
      { ...one, ping: { ...one.ping, rid: "A" } },
      { ...one, ping: { ...one.ping, rid: "B" } },
      { ...one, ping: { ...one.ping, rid: "B", method: "POST" } },
      { ...one, ping: { ...one.ping, rid: "B", method: "POST", kind: "fail" } as const },
      { ...one, ping: { ...one.ping, rid: "B", method: "POST", kind: "exit", exitCode: 0 } as const },
      { ...one, ping: { ...one.ping, rid: "B", method: "POST", kind: "exit", exitCode: 1 } as const },
    ];
    for (const other of [one, ...others]) queue.add("a", other, true);
    expect(queue.take(1)[0]?.taken).toHaveLength(7);
  });

  it("holds 1,000 pings of one address, those that are taken included, and refuses further ones", () => {
    const queue = createPingQueue();
    const kindOf = (at: number) => (at % 2 === 0 ? "success" : "fail");
    for (let at = 0; at < 999; at += 1) expect(queue.add("a", added(at, kindOf(at)), false)).toBe(true);
    const [a] = queue.take(1);
    expect(queue.add("a", added(999, "fail"), true)).toBe(true);
    expect(queue.add("a", added(1_000, "success"), false)).toBe(false);
    expect(queue.add("a", added(1_001, "fail"), false)).toBe(false);
    expect(queue.add("b", added(1_002, "success"), false)).toBe(true);
    // It takes the place of the last, which is equal, and which its client sent beyond the limit too.
    expect(queue.add("a", added(1_003, "fail"), true)).toBe(true);
    expect(queue.size()).toBe(1_002);
    if (a === undefined) throw new Error("no address was taken");
    queue.finish(a);
    expect(queue.take(1)[0]?.taken.map(({ ping: { receivedAt } }) => receivedAt)).toEqual([1_003]);
    expect(queue.size()).toBe(3);
  });

  it("knows when the oldest ping arrived that is not recorded, the first of merged ones included", () => {
    const queue = createPingQueue();
    expect(queue.oldestArrival()).toBe(null);
    queue.add("a", added(5), true);
    queue.add("a", added(9), true);
    queue.add("b", added(7), false);
    expect(queue.oldestArrival()).toBe(5);
    const [a] = queue.take(1);
    expect(queue.oldestArrival()).toBe(5);
    if (a === undefined) throw new Error("no address was taken");
    queue.finish(a);
    expect(queue.oldestArrival()).toBe(7);
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
    queue.finish(a);
    queue.finish(c);
    queue.add("d", added(4, "success", 0, "y"), false);
    expect(queue.take(2).at(-1)?.taken[0]?.ping.body).toBe("y");
  });

  it("drops pings whose requests have waited too long", () => {
    const queue = createPingQueue();
    queue.add("a", added(1, "success", 10), false);
    queue.add("a", added(2, "success", 20), false);
    queue.add("b", added(3, "success", 10), false);
    queue.take(1);
    queue.add("a", added(4, "success", 10), false);
    expect(queue.dropBefore(15)).toHaveLength(3);
    expect(queue.size()).toBe(1);
    expect(queue.take(10).map(({ taken }) => taken.map((one) => one.ping.receivedAt))).toEqual([[2]]);
  });
});
