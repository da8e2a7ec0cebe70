import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { schemaAnalysis } from "#probe-agent/tools/schema/report.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import { createAnalyses } from "#probe-agent/threads/analyses.ts";
import { createAnalysisThreads, type AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import { createPool, type Pool } from "#probe-agent/threads/pool.ts";
import { createTech } from "#probe-agent/threads/tech.ts";
import { startThread } from "#probe-agent/threads/thread.ts";
import { systemClock } from "#test/support/clock.ts";
import { HOSTILE_PAGES } from "#test/support/hostile-pages.ts";
import { jobLimits } from "#test/support/net.ts";
import type { ThreadOrder } from "#test/support/thread-program.ts";
import { until } from "#test/support/until.ts";

const PROGRAM = new URL("../../support/thread-program.ts", import.meta.url);
const NO_RULES = { technologies: [], categories: [] };
const NEVER = new AbortController().signal;
const JOB = { signal: NEVER, deadline: 30_000, now: () => new Date(0) };
const QUESTION = { page: { url: "https://made.test/", html: "x" } };

const running: Worker[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.terminate()));
});

/** Keeps every core busy, twice. */
function occupyCores(): void {
  for (let n = 0; n < 2 * availableParallelism(); n += 1) running.push(new Worker("for (;;);", { eval: true }));
}

/** A pool of threads that run the test's program, with a clock that the test sets. The last borrowed thread is kept. */
function madeThreads() {
  const state = { now: 0, looks: 0, thread: null as AnalysisThread | null };
  const clock = { monotonic: () => state.now };
  const pool = createAnalysisThreads({ clock, entry: PROGRAM });
  const threads: Pool<AnalysisThread> = {
    use: (wait, work) =>
      pool.use(wait, (borrow) =>
        work((task) =>
          borrow((thread) => {
            state.thread = thread;
            const processorMs = () => {
              state.looks += 1;
              return thread.processorMs();
            };
            return task({ ...thread, processorMs });
          }),
        ),
      ),
  };
  const run = (order: ThreadOrder, ms?: number) =>
    createAnalyses({ clock, threads })(JOB).run(
      schemaAnalysis,
      { ...order, padding: new Uint8Array(100_000) } as never,
      ms,
    );
  return { state, run };
}

describe("an overloaded agent", () => {
  it.skipIf(process.platform !== "linux")("blames itself for a thread that gets no processor time", async () => {
    const { state, run } = madeThreads();
    const begun = new SharedArrayBuffer(4);
    const end = run({ do: "starve", begun }, 400);
    await until(() => new Int32Array(begun)[0] === 1, "the thread has its order");
    const before = state.looks;
    await until(() => state.looks > before + 5, "the thread was checked for longer than its budget");
    state.now = 29_000;
    expect(await end).toEqual({ ok: false, reason: "overloaded", isHalfUsed: false });
    expect(state.thread?.alive()).toBe(false);
  });

  it.skipIf(process.platform !== "linux")("says when half of the processor time was used nevertheless", async () => {
    const { state, run } = madeThreads();
    const end = run({ do: "spin" }, 600);
    const before = await until(() => state.thread?.processorMs(), "the thread runs");
    await until(() => (state.thread?.processorMs() ?? 0) - before >= 350, "the thread has worked");
    state.now = 29_000;
    expect(await end).toMatchObject({ ok: false });
    // Where the last check came late, the thread has used all of it.
    expect([
      { ok: false, reason: "overloaded", isHalfUsed: true },
      { ok: false, reason: "too_slow" },
    ]).toContainEqual(await end);
  });

  it("blames a page that uses its processor time, and no other, while busy loops hold the cores", async () => {
    occupyCores();
    const threads = createAnalysisThreads({ clock: systemClock });
    const port = createAnalyses({ clock: systemClock, threads })(jobLimits(3_600_000));
    const page = (html: string) => {
      const raw = { url: "https://a.example/", status: 200, headers: [], contentType: "text/html" };
      return { raw: { ...raw, body: new TextEncoder().encode(html) }, facts: {} };
    };
    const bomb = HOSTILE_PAGES["itemrefs"]?.(5 * 1024 * 1024) ?? "";
    expect(await port.run(schemaAnalysis, page(bomb), 100)).toEqual({ ok: false, reason: "too_slow" });
    expect(await port.run(schemaAnalysis, page("<p>x".repeat(20_000)))).toMatchObject({ ok: true });
  });

  it("blames no rule for a search while busy loops hold the cores", async () => {
    occupyCores();
    const rules: RuleData = { technologies: [["Good", { html: "good" }]], categories: [] };
    const threads = createAnalysisThreads({ clock: systemClock, rules });
    const tech = createTech({ clock: systemClock, threads, rules })(jobLimits(3_600_000));
    const html = `good${"<p class=a>x".repeat(50_000)}`;
    const found = await tech.detect({ page: { url: "https://made.test/", html } }, 60_000);
    expect(found).toMatchObject({ ok: true, suspended: [], unfinished: 0, technologies: [{ name: "Good" }] });
  });

  it("blames itself for a thread that is not ready in time", async () => {
    const silent = new URL("data:text/javascript,setInterval(() => {}, 1000)");
    expect(await startThread({ entry: silent, heapMb: 64, startMs: 1 })).toBe("late");
    const clock = { monotonic: () => 0 };
    const threads = createPool<AnalysisThread>({ clock, start: () => Promise.resolve("late") });
    const overloaded = { ok: false, reason: "overloaded", isHalfUsed: false };
    const heavy = { padding: new Uint8Array(100_000) } as never;
    expect(await createAnalyses({ clock, threads })(JOB).run(schemaAnalysis, heavy)).toEqual(overloaded);
    expect(await createTech({ clock, threads, rules: NO_RULES })(JOB).detect(QUESTION, 8_000)).toEqual(overloaded);
  });

  it("waits for a thread that does not start only as long as another agent needs no more", async () => {
    const clock = { monotonic: () => 0 };
    const threads = createPool<AnalysisThread>({ clock, start: () => new Promise(() => {}) });
    const soon = { ...JOB, deadline: 20 };
    const overloaded = { ok: false, reason: "overloaded", isHalfUsed: false };
    const heavy = { padding: new Uint8Array(100_000) } as never;
    expect(await createAnalyses({ clock, threads })(soon).run(schemaAnalysis, heavy)).toEqual(overloaded);
    expect(await createTech({ clock, threads, rules: NO_RULES })(soon).detect(QUESTION, 8_000)).toEqual(overloaded);
  });
});
