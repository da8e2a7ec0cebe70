import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { startClaimedWork, type ClaimedWork } from "#control-plane/checks/jobs/claimed-work.ts";
import { until } from "#test/support/until.ts";
import { liveTimers } from "#test/support/timers.ts";

const NEVER_MS = 86_400_000;
const log = pino({ level: "silent" });

/** Work whose pieces are numbers that wait in a list, and that end when a test says so. */
function startWorld(options: Partial<Parameters<typeof startClaimedWork<number>>[0]> = {}) {
  const waiting: number[] = [];
  const begun: number[] = [];
  const aborted: number[] = [];
  const failed: number[] = [];
  const rooms: number[] = [];
  const asked: boolean[] = [];
  const ends = new Map<number, { end: () => void; fail: (error: unknown) => void }>();
  const work = startClaimedWork<number>({
    timers: liveTimers,
    name: "a round of the test",
    log,
    most: 2,
    lookMs: NEVER_MS,
    claim(room, isAsked) {
      rooms.push(room);
      asked.push(isAsked);
      return Promise.resolve({ pieces: waiting.splice(0, room), isMore: waiting.length > 0 });
    },
    work(piece, signal) {
      begun.push(piece);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      ends.set(piece, { end: resolve, fail: reject });
      signal.addEventListener("abort", () => {
        aborted.push(piece);
        resolve();
      });
      return promise;
    },
    onError: (_error, piece) => void failed.push(piece),
    ...options,
  });
  started.push(work);
  return { work, waiting, begun, aborted, failed, rooms, asked, end: (piece: number) => ends.get(piece)?.end(), ends };
}

const started: ClaimedWork<number>[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((work) => work.stop(0)));
});

describe("claimed work", () => {
  it("begins as much as it has room for, and the next when one has ended", async () => {
    const world = startWorld();
    world.waiting.push(1, 2, 3);
    world.work.wake();
    await until(() => world.begun.length === 2, "two pieces");
    expect([...world.work.running()]).toEqual([1, 2]);
    expect(world.waiting).toEqual([3]);
    world.end(2);
    await until(() => world.begun.length === 3, "the third piece");
    expect([...world.work.running()]).toEqual([1, 3]);
    expect(Math.max(...world.rooms)).toBe(2);
  });

  it("tells a claim that was asked for from one that an end makes room for", async () => {
    const world = startWorld();
    world.waiting.push(1);
    world.work.wake();
    await until(() => world.begun.length === 1, "a piece");
    world.end(1);
    await until(() => world.asked.length === 2, "the claim after the end");
    expect(world.asked).toEqual([true, false]);
  });

  it("repeats a claim that failed at the next look", async () => {
    let fails = 2;
    const begun: number[] = [];
    const world = startWorld({
      lookMs: 1,
      claim: () => {
        fails -= 1;
        if (fails >= 0) return Promise.reject(new Error("the database is away"));
        return Promise.resolve({ pieces: begun.length === 0 ? [7] : [], isMore: false });
      },
      work: (piece) => {
        begun.push(piece);
        return Promise.resolve();
      },
    });
    await until(() => begun.length > 0, "the piece");
    expect(begun[0]).toBe(7);
    expect(world.failed).toEqual([]);
  });

  it("goes on after a piece that threw", async () => {
    const world = startWorld({ most: 1 });
    world.waiting.push(1, 2);
    world.work.wake();
    await until(() => world.begun.length === 1, "the first piece");
    world.ends.get(1)?.fail(new Error("a bug"));
    await until(() => world.begun.length === 2, "the second piece");
    expect(world.failed).toEqual([1]);
  });

  it("claims together what several ends make room for, and after a pause what few do", async () => {
    const world = startWorld({ most: 4, together: { pieces: 2, ms: NEVER_MS } });
    world.waiting.push(1, 2, 3, 4);
    world.work.wake();
    await until(() => world.begun.length === 4, "four pieces");
    const claims = world.rooms.length;
    world.end(1);
    await until(() => [...world.work.running()].length === 3, "an end");
    expect(world.rooms).toHaveLength(claims);
    world.end(2);
    await until(() => world.rooms.length > claims, "the claim after two ends");
    expect(world.rooms.at(-1)).toBe(2);
  });

  it("drains what is due, with what the caller has begun", async () => {
    const world = startWorld({ most: 1 });
    world.waiting.push(1, 2);
    const drained = world.work.drain().then(() => world.begun.length);
    for (const piece of [1, 2]) {
      await until(() => world.begun.includes(piece), `piece ${piece}`);
      world.end(piece);
    }
    expect(await drained).toBe(2);
    const own = world.work.run(9);
    const again = world.work.drain();
    world.end(9);
    await Promise.all([own, again]);
    expect([...world.work.running()]).toEqual([]);
  });

  it("drains what becomes due by the end of a piece during a claim", async () => {
    const begun: number[] = [];
    const released = [1];
    const ends = new Map<number, () => void>();
    const world = startWorld({
      claim: async () => {
        // The second piece is due when the first has ended, which happens after this claim has looked.
        const pieces = released.splice(0, 1);
        if (pieces.length === 0 && begun.length === 1 && ends.size === 1) {
          ends.get(1)?.();
          await new Promise((resolve) => setImmediate(resolve));
        }
        return { pieces, isMore: pieces.length > 0 };
      },
      async work(piece) {
        begun.push(piece);
        if (piece > 1) return;
        await new Promise<void>((resolve) => ends.set(piece, resolve));
        released.push(2);
      },
    });
    await world.work.drain();
    expect(begun).toEqual([1, 2]);
  });

  it("extends the leases of what runs", async () => {
    let renewals = 0;
    const world = startWorld({ renewal: { everyMs: 1, renew: () => (renewals += 1) } });
    await until(() => renewals > 1, "renewals");
    await world.work.stop(0);
    const before = renewals;
    const other = startWorld({ renewal: { everyMs: 1, renew: () => (renewals += 1_000) } });
    await until(() => renewals >= before + 1_000, "a renewal of other work");
    expect(renewals % 1_000).toBe(before % 1_000);
    await other.work.stop(0);
  });

  it("that stops claims nothing more, lets pieces end, and aborts the others", async () => {
    const world = startWorld();
    world.waiting.push(1, 2, 3);
    world.work.wake();
    await until(() => world.begun.length === 2, "two pieces");
    const stopped = world.work.stop(50);
    world.end(1);
    await stopped;
    expect(world.begun).toEqual([1, 2]);
    expect(world.waiting).toEqual([3]);
    expect(world.aborted).toEqual([2]);
    world.work.wake();
    await world.work.drain();
    expect(world.waiting).toEqual([3]);
  });

  it("that stops during a claim aborts what that claim brings", async () => {
    const { promise, resolve } = Promise.withResolvers<{ pieces: readonly number[]; isMore: boolean }>();
    let claims = 0;
    const world = startWorld({
      claim: () => {
        claims += 1;
        return promise;
      },
    });
    world.work.wake();
    await until(() => claims === 1, "a claim");
    const stopped = world.work.stop(0);
    resolve({ pieces: [5], isMore: true });
    await stopped;
    expect(world.aborted).toEqual([5]);
    expect(claims).toBe(1);
  });
});
