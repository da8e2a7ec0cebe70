import { describe, expect, it } from "vitest";
import { createWaitingQueue, MAX_WAITING, MAX_WAITING_PER_ACCOUNT } from "#control-plane/checks/dispatch/session.ts";

interface Entry {
  readonly accountId: number | null;
  readonly id: string;
}

function entries(accountId: number | null, count: number): Entry[] {
  return Array.from({ length: count }, (_, at) => ({ accountId, id: `${accountId}/${at + 1}` }));
}

function takeAll(queue: { next(): Entry | undefined }): string[] {
  const names: string[] = [];
  for (let entry = queue.next(); entry !== undefined; entry = queue.next()) names.push(entry.id);
  return names;
}

describe("the waiting queue", () => {
  it("serves the jobs of one account in order of arrival", () => {
    const queue = createWaitingQueue<Entry>();
    for (const entry of entries(1, 3)) expect(queue.add(entry)).toBe(true);
    expect(queue.size).toBe(3);
    expect(takeAll(queue)).toEqual(["1/1", "1/2", "1/3"]);
    expect(queue.size).toBe(0);
  });

  it("lets accounts take turns, and includes callers without an account", () => {
    const queue = createWaitingQueue<Entry>();
    for (const entry of [...entries(1, 3), ...entries(2, 1), ...entries(null, 2)]) queue.add(entry);
    expect(takeAll(queue)).toEqual(["1/1", "2/1", "null/1", "1/2", "null/2", "1/3"]);
  });

  it("serves the single job of an account second, before a thousand of another", () => {
    const queue = createWaitingQueue<Entry>();
    for (const entry of entries(1, 1_000)) queue.add(entry);
    expect(queue.next()?.id).toBe("1/1");
    for (const entry of entries(2, 1)) queue.add(entry);
    expect([queue.next()?.id, queue.next()?.id]).toContain("2/1");
  });

  it("refuses jobs above an account's share or above the total immediately", () => {
    const queue = createWaitingQueue<Entry>();
    for (const entry of entries(1, MAX_WAITING_PER_ACCOUNT)) expect(queue.add(entry)).toBe(true);
    expect(queue.add({ accountId: 1, id: "over" })).toBe(false);
    for (let account = 2; queue.size < MAX_WAITING; account += 1) {
      for (const entry of entries(account, MAX_WAITING_PER_ACCOUNT)) queue.add(entry);
    }
    expect(queue.add({ accountId: 99, id: "over" })).toBe(false);
    expect(queue.size).toBe(MAX_WAITING);
  });

  it("puts a returned job in front of all others", () => {
    const queue = createWaitingQueue<Entry>();
    for (const entry of [...entries(1, 2), ...entries(2, 1)]) queue.add(entry);
    const first = queue.next();
    if (first === undefined) throw new Error("no job waits");
    queue.putBack(first);
    queue.putBack(first);
    expect(queue.size).toBe(3);
    expect(takeAll(queue)).toEqual(["1/1", "2/1", "1/2"]);
  });

  it("removes jobs, and lists those that wait", () => {
    const queue = createWaitingQueue<Entry>();
    const [one, two] = entries(1, 2) as [Entry, Entry];
    queue.add(one);
    queue.add(two);
    expect(queue.add(two)).toBe(false);
    expect(queue.remove(one)).toBe(true);
    expect(queue.remove(one)).toBe(false);
    expect([queue.has(one), queue.has(two), queue.size]).toEqual([false, true, 1]);
    expect(queue.values()).toEqual([two]);
    expect(takeAll(queue)).toEqual(["1/2"]);
  });
});
