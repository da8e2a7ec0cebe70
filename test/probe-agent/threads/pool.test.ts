import { setImmediate as nextRound } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createPool, type Pool, type Pooled } from "#probe-agent/threads/pool.ts";
import { startThread, type Thread } from "#probe-agent/threads/thread.ts";
import { systemClock } from "#test/support/clock.ts";
import type { ThreadOrder } from "#test/support/thread-program.ts";
import { jobLimits } from "#test/support/net.ts";
import { until } from "#test/support/until.ts";

const ENTRY = new URL("../../support/thread-program.ts", import.meta.url);
const NEVER = new AbortController().signal;
const waiting = (ms: number) => ({ until: jobLimits(ms).deadline, signal: NEVER });
const patient = () => waiting(120_000);

async function start(heapMb = 64, data?: unknown): Promise<Thread<string, unknown>> {
  const thread = await startThread<string, unknown>({ entry: ENTRY, heapMb, data });
  if (thread === null || thread === "late") throw new Error("the thread did not start");
  return thread;
}

function runOrder<Why = never>(
  thread: Thread<string, unknown>,
  order: ThreadOrder,
  check: () => Why | null = () => null,
) {
  return thread.run({ order, check });
}

describe("a thread", () => {
  it("sends a ready message and answers one order after the other", async () => {
    const thread = await start();
    expect(thread.hello).toBe("ready");
    expect(await runOrder(thread, { do: "echo", value: { of: [1, new Date(5)] } })).toEqual({
      kind: "answered",
      answer: { of: [1, new Date(5)] },
    });
    expect(await runOrder(thread, { do: "echo", value: 2 })).toEqual({ kind: "answered", answer: 2 });
    expect(thread.alive()).toBe(true);
    thread.end();
    expect(thread.alive()).toBe(false);
  });

  it("is checked from outside and ended if it takes too long", async () => {
    const thread = await start();
    let checks = 0;
    const end = await runOrder(thread, { do: "spin" }, () => (++checks === 3 ? "enough" : null));
    expect(end).toEqual({ kind: "given_up", why: "enough" });
    expect(thread.alive()).toBe(false);
  });

  it("ends alone if it exceeds its heap limit", async () => {
    const thread = await start(24);
    expect(await runOrder(thread, { do: "hoard" })).toEqual({ kind: "out_of_memory" });
    expect(thread.alive()).toBe(false);
  });

  it("that ends by itself is reported as broken", async () => {
    expect(await runOrder(await start(), { do: "leave" })).toEqual({ kind: "broken" });
  });

  it("that does not start is null", async () => {
    expect(await startThread({ entry: ENTRY, heapMb: 64, data: "never ready" })).toBeNull();
    expect(await startThread({ entry: new URL("no-such-program.ts", ENTRY), heapMb: 64 })).toBeNull();
  });

  it("has an empty environment", async () => {
    const entry = new URL(`data:text/javascript,${encodeURIComponent(SHOWS_ENVIRONMENT)}`);
    const thread = await startThread<number, never>({ entry, heapMb: 64 });
    if (thread === null || thread === "late") throw new Error("the thread did not start");
    expect(thread.hello).toBe(0);
    thread.end();
  });
});

const SHOWS_ENVIRONMENT =
  'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {}); parentPort.postMessage(Object.keys(process.env).length);';

/** Creates a pool of numbered objects in the place of threads. */
function counted(): { pool: Pool<Pooled & { n: number; dead: boolean }>; started: () => number } {
  let started = 0;
  const pool = createPool({
    clock: systemClock,
    start: () => {
      const one = { n: (started += 1), dead: false, alive: () => !one.dead, end: () => void (one.dead = true) };
      return Promise.resolve(one);
    },
  });
  return { pool, started: () => started };
}

describe("a pool", () => {
  it("starts no thread before there is work, and reuses idle threads", async () => {
    const { pool, started } = counted();
    expect(started()).toBe(0);
    const number = () => pool.use(patient(), (borrow) => borrow((thread) => Promise.resolve(thread.n)));
    expect([await number(), await number(), await number()]).toEqual([1, 1, 1]);
  });

  it("replaces a thread that has ended", async () => {
    const { pool } = counted();
    await pool.use(patient(), (borrow) => borrow((thread) => Promise.resolve(thread.end())));
    expect(await pool.use(patient(), (borrow) => borrow((thread) => Promise.resolve(thread.n)))).toBe(2);
  });

  it("runs two at the same time while the others wait in order", async () => {
    const { pool } = counted();
    const order: string[] = [];
    const gates = ["a", "b", "c"].map((name) => ({ name, ...Promise.withResolvers<void>() }));
    const work = gates.map(({ name, promise }) =>
      pool.use(patient(), async (borrow) => {
        order.push(`${name} begins`);
        await borrow(() => promise);
        order.push(`${name} ends`);
      }),
    );
    // Turns are given without a timer, so that every one that is free is taken by the next round of the event loop.
    await nextRound();
    gates[1]?.resolve();
    await until(() => order.length === 4, "the third begins");
    gates[0]?.resolve();
    await work[0];
    gates[2]?.resolve();
    await work[2];
    expect(order).toEqual(["a begins", "b begins", "b ends", "c begins", "a ends", "c ends"]);
  });

  it("reports when the time or the job of a waiting caller ends", async () => {
    const { pool } = counted();
    const gate = Promise.withResolvers<void>();
    const atWork = [1, 2].map(() => pool.use(patient(), () => gate.promise));
    const late = pool.use(waiting(50), () => Promise.resolve("worked"));
    const abort = new AbortController();
    const ended = pool.use({ ...patient(), signal: abort.signal }, () => Promise.resolve("worked"));
    abort.abort();
    expect(await late).toBe("busy");
    expect(await ended).toBe("cancelled");
    gate.resolve();
    await Promise.all(atWork);
  });

  it("immediately refuses callers beyond the maximum number of waiting ones", async () => {
    const { pool } = counted();
    const gate = Promise.withResolvers<void>();
    const all = Array.from({ length: 140 }, () => pool.use(patient(), () => gate.promise.then(() => "worked")));
    const first = await Promise.race(all);
    expect(first).toBe("busy");
    gate.resolve();
    const answers = await Promise.all(all);
    expect(answers.filter((answer) => answer === "worked")).toHaveLength(128);
  });

  it("releases the turn when the work throws", async () => {
    const { pool, started } = counted();
    const fail = () => pool.use(patient(), (borrow) => borrow(() => Promise.reject(new Error("a bug"))));
    for (let n = 0; n < 5; n += 1) await expect(fail()).rejects.toThrow("a bug");
    expect(await pool.use(patient(), () => Promise.resolve("worked"))).toBe("worked");
    expect(started()).toBe(1);
  });

  it("returns null if no thread can be started", async () => {
    const pool = createPool<Pooled>({ clock: systemClock, start: () => Promise.resolve(null) });
    expect(await pool.use(patient(), (borrow) => borrow(() => Promise.resolve("worked")))).toBeNull();
  });
});
