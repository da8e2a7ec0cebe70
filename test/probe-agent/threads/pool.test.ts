import { describe, expect, it } from "vitest";
import { createPool, type Pool, type Pooled } from "#probe-agent/threads/pool.ts";
import { startThread, type Thread } from "#probe-agent/threads/thread.ts";
import { systemClock } from "#test/support/clock.ts";
import type { ThreadOrder } from "#test/support/thread-program.ts";

const ENTRY = new URL("../../support/thread-program.ts", import.meta.url);
const NEVER = new AbortController().signal;
const patient = () => ({ until: systemClock.monotonic() + 10_000, signal: NEVER });

async function start(heapMb = 64, data?: unknown): Promise<Thread<string, unknown>> {
  const thread = await startThread<string, unknown>({ entry: ENTRY, heapMb, data });
  if (thread === null) throw new Error("no thread came up");
  return thread;
}

function tell<Why = never>(thread: Thread<string, unknown>, order: ThreadOrder, look: () => Why | null = () => null) {
  return thread.run({ order, look });
}

describe("a thread", () => {
  it("says hello, and answers one order after the other", async () => {
    const thread = await start();
    expect(thread.hello).toBe("ready");
    expect(await tell(thread, { do: "echo", value: { of: [1, new Date(5)] } })).toEqual({
      kind: "answered",
      answer: { of: [1, new Date(5)] },
    });
    expect(await tell(thread, { do: "echo", value: 2 })).toEqual({ kind: "answered", answer: 2 });
    expect(thread.alive()).toBe(true);
    thread.end();
    expect(thread.alive()).toBe(false);
  });

  it("is watched from outside, and ended where it takes too long", async () => {
    const thread = await start();
    let looks = 0;
    const end = await tell(thread, { do: "spin" }, () => (++looks === 3 ? "enough" : null));
    expect(end).toEqual({ kind: "given_up", why: "enough" });
    expect(thread.alive()).toBe(false);
  });

  it("that takes more memory than it has ends alone", async () => {
    const thread = await start(24);
    expect(await tell(thread, { do: "hoard" })).toEqual({ kind: "out_of_memory" });
    expect(thread.alive()).toBe(false);
  });

  it("that ends by itself is told of", async () => {
    expect(await tell(await start(), { do: "leave" })).toEqual({ kind: "broken" });
  });

  it("that never comes up is none", async () => {
    expect(await startThread({ entry: ENTRY, heapMb: 64, data: "never ready" })).toBeNull();
    expect(await startThread({ entry: new URL("no-such-program.ts", ENTRY), heapMb: 64 })).toBeNull();
  });

  it("sees nothing of the agent's environment", async () => {
    const entry = new URL(`data:text/javascript,${encodeURIComponent(SHOWS_ENVIRONMENT)}`);
    const thread = await startThread<number, never>({ entry, heapMb: 64 });
    expect(thread?.hello).toBe(0);
    thread?.end();
  });
});

const SHOWS_ENVIRONMENT =
  'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {}); parentPort.postMessage(Object.keys(process.env).length);';

/** A pool of things that only count themselves. */
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
  it("starts nothing before there is work, and uses again what it has", async () => {
    const { pool, started } = counted();
    expect(started()).toBe(0);
    const number = () => pool.use(patient(), (borrow) => borrow((thread) => Promise.resolve(thread.n)));
    expect([await number(), await number(), await number()]).toEqual([1, 1, 1]);
  });

  it("starts another where one is gone", async () => {
    const { pool } = counted();
    await pool.use(patient(), (borrow) => borrow((thread) => Promise.resolve(thread.end())));
    expect(await pool.use(patient(), (borrow) => borrow((thread) => Promise.resolve(thread.n)))).toBe(2);
  });

  it("has two at work at once; the others wait in order", async () => {
    const { pool } = counted();
    const order: string[] = [];
    const gates = ["a", "b", "c"].map((name) => ({ name, ...Promise.withResolvers<void>() }));
    const work = gates.map(({ name, promise }) =>
      pool.use(patient(), async (borrow) => {
        order.push(name);
        await borrow(() => promise);
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(order).toEqual(["a", "b"]);
    gates[1]?.resolve();
    await work[1];
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(order).toEqual(["a", "b", "c"]);
    for (const gate of gates) gate.resolve();
    await Promise.all(work);
  });

  it("tells those whose time or job ends while others are at work", async () => {
    const { pool } = counted();
    const gate = Promise.withResolvers<void>();
    const atWork = [1, 2].map(() => pool.use(patient(), () => gate.promise));
    const late = pool.use({ until: systemClock.monotonic() + 50, signal: NEVER }, () => Promise.resolve("worked"));
    const abort = new AbortController();
    const ended = pool.use({ ...patient(), signal: abort.signal }, () => Promise.resolve("worked"));
    abort.abort();
    expect(await late).toBe("busy");
    expect(await ended).toBe("cancelled");
    gate.resolve();
    await Promise.all(atWork);
  });

  it("tells at once those who would be too many to wait", async () => {
    const { pool } = counted();
    const gate = Promise.withResolvers<void>();
    const all = Array.from({ length: 140 }, () => pool.use(patient(), () => gate.promise.then(() => "worked")));
    const first = await Promise.race(all);
    expect(first).toBe("busy");
    gate.resolve();
    const answers = await Promise.all(all);
    expect(answers.filter((answer) => answer === "worked")).toHaveLength(128);
  });

  it("gives its place back when the work throws", async () => {
    const { pool, started } = counted();
    const fail = () => pool.use(patient(), (borrow) => borrow(() => Promise.reject(new Error("a bug"))));
    for (let n = 0; n < 5; n += 1) await expect(fail()).rejects.toThrow("a bug");
    expect(await pool.use(patient(), () => Promise.resolve("worked"))).toBe("worked");
    expect(started()).toBe(1);
  });

  it("says null where no thread comes up", async () => {
    const pool = createPool<Pooled>({ clock: systemClock, start: () => Promise.resolve(null) });
    expect(await pool.use(patient(), (borrow) => borrow(() => Promise.resolve("worked")))).toBeNull();
  });
});
