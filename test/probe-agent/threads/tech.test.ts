import { describe, expect, it } from "vitest";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import { createTech } from "#probe-agent/threads/tech.ts";
import { NO_RULE, PROGRESS } from "#probe-agent/threads/analyses/messages.ts";
import { createTechSearch } from "#probe-agent/threads/analyses/tech-search.ts";
import { createAnalysisThreads } from "#probe-agent/threads/analyses/threads.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import { systemClock } from "#test/support/clock.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { createShiftedClock } from "#test/support/shifted-clock.ts";
import { jobLimits } from "#test/support/net.ts";

const URL = "https://made.test/";
/** Backtracks exponentially on a run of a's that is followed by anything else. */
const CATASTROPHIC = "(a+)+$";
const BOMB = `${"a".repeat(50_000)}!`;

function rulesOf(technologies: Readonly<Record<string, unknown>>): RuleData {
  return { technologies: Object.entries(technologies), categories: [] };
}

/**
 * Time of a search that is expected to end by itself. Threads have a low priority, so that they hardly run while other
 * programs keep the processors busy.
 */
const PATIENT_MS = 250_000;

/** Creates a search with the given rules for jobs of `ms`. */
function search(technologies: Readonly<Record<string, unknown>>, { heapMb = 512, clock = systemClock } = {}) {
  const rules = rulesOf(technologies);
  const { threads, borrowed } = countBorrowed(createAnalysisThreads({ clock, rules, heapMb }));
  const techFor = createTech({ rules, clock, threads });
  const detect = (html: string, ms = PATIENT_MS, signal = new AbortController().signal) =>
    techFor({ ...jobLimits(PATIENT_MS, signal), deadline: Infinity }).detect({ page: { url: URL, html } }, ms);
  return Object.assign(detect, { borrowed });
}

/** Counts how often a thread of the pool is borrowed: once for each start of a search. */
function countBorrowed<T>(pool: Pool<T>): { readonly threads: Pool<T>; readonly borrowed: () => number } {
  let count = 0;
  const threads: Pool<T> = {
    use: (wait, work) =>
      pool.use(wait, (borrow) =>
        work((task) => {
          count += 1;
          return borrow(task);
        }),
      ),
  };
  return { threads, borrowed: () => count };
}

const GOOD = { html: "good" };

describe("a thread that has not searched a page", () => {
  it("is at no rule, so that no rule is blamed for a page that takes long to parse", () => {
    const progress = new SharedArrayBuffer(PROGRESS.length * Int32Array.BYTES_PER_ELEMENT);
    createTechSearch({ rules: rulesOf({ First: GOOD }), progress }, () => 0);
    expect(new Int32Array(progress)[PROGRESS.rule]).toBe(NO_RULE);
  });
});

describe("technology searches in threads", () => {
  it("return what the rules find", async () => {
    const found = await search({ Good: GOOD, Other: { html: "other" } })("good");
    expect(found).toMatchObject({ ok: true, suspended: [], unfinished: 0, unusable: 0 });
    expect(found.ok && found.technologies.map(({ name }) => name)).toEqual(["Good"]);
  });

  it("suspend only the rule with a catastrophic expression, and the next page is not delayed", async () => {
    const detect = search({ Before: GOOD, Bad: { text: CATASTROPHIC }, After: GOOD });
    const found = await detect(`${BOMB} good`);
    expect(found).toMatchObject({ ok: true, suspended: ["Bad"] });
    expect(found.ok && found.technologies.map(({ name }) => name)).toEqual(["After", "Before"]);
    // The first search was ended because of the rule. The second left it out.
    expect(detect.borrowed()).toBe(2);
    expect(await detect(`${BOMB} good`)).toMatchObject({ ok: true, suspended: ["Bad"] });
    expect(detect.borrowed()).toBe(3);
  });

  it("retry a suspended rule after a while, because a hostile page may have been the reason", async () => {
    const clock = createShiftedClock();
    const detect = search({ Bad: { text: "(a+)+$" } }, { clock });
    expect(await detect(BOMB)).toMatchObject({ ok: true, technologies: [], suspended: ["Bad"] });
    expect(await detect("aaa")).toMatchObject({ ok: true, technologies: [], suspended: ["Bad"] });
    clock.advance(11 * 60_000);
    expect(await detect("aaa")).toMatchObject({ ok: true, technologies: [{ name: "Bad" }], suspended: [] });
  });

  it("suspend two such rules", async () => {
    const detect = search({ Bad: { text: CATASTROPHIC }, Good: GOOD, Worse: { html: "(b|b|aa?)+c" } });
    const found = await detect(`${BOMB} good`);
    expect(found.ok && found.suspended.toSorted()).toEqual(["Bad", "Worse"]);
    expect(found.ok && found.technologies.map(({ name }) => name)).toEqual(["Good"]);
  });

  it("do not shorten the time of others if a page uses all of its time", async () => {
    const detect = search({ Bad: { text: CATASTROPHIC }, Good: GOOD });
    // Both threads are started, so that only the searches differ.
    await Promise.all([detect("good"), detect("good")]);
    const finished: string[] = [];
    const slow = detect(BOMB).finally(() => finished.push("slow"));
    const quick = detect("good").finally(() => finished.push("quick"));
    expect(await quick).toMatchObject({ ok: true, suspended: [] });
    await slow;
    expect(finished).toEqual(["quick", "slow"]);
  });

  it("return too_slow in time if there is no time to find the rule at fault", async () => {
    const detect = search({ Bad: { text: CATASTROPHIC } });
    expect(await endsBy(600, () => detect(BOMB, 600))).toEqual({ ok: false, reason: "too_slow" });
  });

  it("return partial results if many slow rules use up the time", async () => {
    const slow = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`Slow ${n}`, { text: `b[^c]*c{${n + 1}}` }]),
    );
    const detect = search({ Good: GOOD, ...slow });
    // Its time is that of the rules alone, without the start of a thread.
    expect(await detect("good")).toMatchObject({ ok: true, unfinished: 0 });
    const found = await detect(`good ${"ab ".repeat(6000)}`, 6000);
    expect(found.ok ? found.unfinished : 0).toBeGreaterThan(0);
    expect(found.ok && found.technologies.map(({ name }) => name)).toContain("Good");
  });

  it("immediately refuse callers beyond the maximum number of waiting ones", async () => {
    const detect = search({ Bad: { text: CATASTROPHIC } });
    const answers = await Promise.all(Array.from({ length: 160 }, () => detect(BOMB, 500)));
    const busy = answers.filter((answer) => !answer.ok && answer.reason === "busy");
    expect(busy.length).toBeGreaterThanOrEqual(30);
    expect(answers.filter((answer) => !answer.ok && answer.reason === "too_slow").length).toBeGreaterThan(0);
  });

  it("return when the job ends", async () => {
    const abort = new AbortController();
    const answer = search({ Bad: { text: CATASTROPHIC } })(BOMB, PATIENT_MS, abort.signal);
    setTimeout(() => abort.abort(), 200);
    expect(await answer).toEqual({ ok: false, reason: "cancelled" });
  });

  it("of a page of 300,000 elements stay within the memory limit", async () => {
    const found = await search({ Good: GOOD })(`good${"<div class='a b' id=x>t".repeat(217_000)}`);
    expect(found).toMatchObject({ ok: true, unfinished: 0 });
  });

  it("of a page that exceeds the memory limit end the thread, not the agent", async () => {
    const detect = search({ Good: GOOD }, { heapMb: 48 });
    expect(await detect("<div class='a b' id=x>t".repeat(200_000))).toEqual({ ok: false, reason: "out_of_memory" });
    expect(await detect("good")).toMatchObject({ ok: true, technologies: [{ name: "Good" }] });
  });

  it("parse a page once for the rules and for its content management system", async () => {
    const rules = rulesOf({ Good: GOOD });
    const threads = createAnalysisThreads({ clock: systemClock, rules });
    const port = createTech({ rules, clock: systemClock, threads })(jobLimits(PATIENT_MS));
    const body = new TextEncoder().encode('good<link rel=stylesheet href="/wp-content/themes/shop/style.css?ver=1.2">');
    const raw = { url: URL, status: 200, headers: [], contentType: "text/html", body };
    const question = { page: { url: URL }, raw };
    expect(await port.detect(question, PATIENT_MS)).toMatchObject({
      ok: true,
      system: null,
      technologies: [{ name: "Good" }],
    });
    const found = await port.detect({ ...question, withSystem: true }, PATIENT_MS);
    expect(found).toMatchObject({ ok: true, truncated: false, technologies: [{ name: "Good" }] });
    expect(found.ok && found.system?.assets.map(({ path }) => path)).toEqual(["/wp-content/themes/shop/style.css"]);
  });

  it("with only invalid rules find nothing", async () => {
    const found = await search({ A: { html: "(", dom: "p:hover" }, B: 5 })("good");
    expect(found).toMatchObject({ ok: true, technologies: [], suspended: [], unfinished: 0, unusable: 3 });
  });
});
