import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "#test/support/clock.ts";
import { createTimers, type Timers } from "#control-plane/core/timers.ts";

let timers: Timers;
afterEach(() => timers.stop());

/** Timers whose rests are short, and a list of what they called. */
function make(work: Readonly<Record<string, number>>, intervals: { restMs: number; quietMs: number }) {
  timers = createTimers(systemClock, intervals);
  const calls: string[] = [];
  for (const [name, everyMs] of Object.entries(work)) timers.repeat(everyMs, () => void calls.push(name));
  return calls;
}

/** Resolves when the `count`th rest begins. */
function untilRest(count = 1): Promise<void> {
  let rests = 0;
  return new Promise((resolve) => {
    timers.onRest(() => {
      rests += 1;
      if (rests === count) resolve();
    });
  });
}

const HOUR_MS = 3_600_000;
const IDLE = () => Promise.resolve(false);

describe("timers", () => {
  it("call each piece of work by its interval while they are not allowed to rest", async () => {
    const calls = make({}, { restMs: 1, quietMs: 1 });
    const third = Promise.withResolvers<void>();
    const repetition = timers.repeat(1, () => {
      calls.push("work");
      if (calls.length === 3) third.resolve();
    });
    await third.promise;
    repetition.stop();
    expect(calls.slice(0, 3)).toEqual(["work", "work", "work"]);
  });

  it("rest when nothing happens, and call everything of a short interval once before the next rest, one by one", async () => {
    make({}, { restMs: 20, quietMs: 1 });
    const calls: string[] = [];
    for (const name of ["first", "second"]) {
      timers.repeat(15, async () => {
        calls.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        calls.push(`${name} ends`);
      });
    }
    timers.repeat(HOUR_MS, () => void calls.push("hourly"));
    timers.allowRest(IDLE);
    await untilRest();
    calls.length = 0;
    await untilRest();
    expect(calls).toEqual(["first begins", "first ends", "second begins", "second ends"]);
  });

  it("call work of a long interval when its time has come in a rest", async () => {
    timers = createTimers(systemClock, { restMs: 10, quietMs: 1 });
    const called = Promise.withResolvers<void>();
    timers.repeat(35, () => called.resolve());
    timers.allowRest(IDLE);
    await untilRest();
    await expect(called.promise).resolves.toBeUndefined();
  });

  it("call everything at once when a rest ends, and repeat it again", async () => {
    const calls = make({ often: 5, hourly: 2 * HOUR_MS }, { restMs: HOUR_MS, quietMs: 1 });
    timers.allowRest(IDLE);
    await untilRest();
    calls.length = 0;
    const next = Promise.withResolvers<void>();
    timers.repeat(10, () => next.resolve());
    timers.wake();
    expect(calls).toEqual(["often"]);
    await next.promise;
    expect(calls).not.toContain("hourly");
  });

  it.each([
    ["is due", () => Promise.resolve(true)],
    ["cannot be read", () => Promise.reject(new Error("the database is away"))],
  ])("do not rest while it %s", async (_why, busy) => {
    make({}, { restMs: 1, quietMs: 1 });
    let [rests, asked] = [0, 0];
    timers.onRest(() => (rests += 1));
    const third = Promise.withResolvers<void>();
    timers.allowRest(() => {
      asked += 1;
      if (asked === 3) third.resolve();
      return busy();
    });
    await third.promise;
    expect(rests).toBe(0);
  });

  it("do not rest when something happens while they ask", async () => {
    make({}, { restMs: 1, quietMs: 1 });
    let rests = 0;
    const stop = timers.onRest(() => (rests += 1));
    let asked = 0;
    const again = Promise.withResolvers<void>();
    timers.allowRest(() => {
      asked += 1;
      if (asked < 3) timers.wake();
      else again.resolve();
      return Promise.resolve(false);
    });
    await again.promise;
    expect(rests).toBe(0);
    stop();
    await untilRest();
  });
});
