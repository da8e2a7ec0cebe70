import type { Clock } from "#shared/clock.ts";
import { ANALYSES, type AnalysisName, type InputOf, type ReportOf } from "#probe-agent/analysis/site/analyses.ts";
import type { AnalysisOrder, ThreadAnswer } from "#probe-agent/threads/analyses/messages.ts";
import type { AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import { isHeavy } from "#probe-agent/threads/analyses/weight.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { Analysed, AnalysesPort } from "#probe-agent/toolkit/analyses.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";
import { LOOK_MS } from "#probe-agent/threads/thread.ts";

/** What analyses are made with. */
interface AnalysesOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly threads: Pool<AnalysisThread>;
}

/**
 * The longest an analysis may be at work, milliseconds: what the worst page of 5 MB takes (2.5 s), and as much again and
 * more, since its thread gives way to all others.
 */
const ANALYSIS_MS = 8000;
/** Kept back of a job's time for its answer. */
const RESERVE_MS = 1000;
/** Octets analysed at once, on the agent's own loop: 2 ms of tags, 6 ms of the densest JSON-LD. */
const LIGHT_BYTES = 16 * 1024;
/** A thread that ends for no reason of its own gets the order once more. */
const ATTEMPTS = 2;

type Late = "busy" | "too_slow";

/** Makes the analyses of an agent; each job's port ends with its job. */
export function createAnalyses({ clock, threads }: AnalysesOptions): (limits: JobLimits) => AnalysesPort {
  async function analyse(order: AnalysisOrder, ms: number, until: number, signal: AbortSignal) {
    return await threads.use<Analysed<unknown>>({ until, signal }, async (borrow) => {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const end = await borrow((thread) => {
          const left = until - clock.monotonic();
          // What has less than its time because others were first is not to blame for it.
          return thread.run({ order, look: createWatch<Late>(Math.min(ms, left), left < ms ? "busy" : "too_slow") });
        });
        if (end === null || end.kind === "broken") continue;
        if (end.kind === "answered") return reportOf(end.answer);
        return { ok: false, reason: end.kind === "given_up" ? end.why : end.kind };
      }
      return { ok: false, reason: "broken" };
    });
  }

  return ({ signal, deadline }) => ({
    async run<Name extends AnalysisName>(name: Name, input: InputOf<Name>, ms = ANALYSIS_MS) {
      type Report = ReportOf<Name>;
      if (!isHeavy(input, LIGHT_BYTES)) return { ok: true, report: ANALYSES[name](input as never) as Report };
      const until = deadline - RESERVE_MS;
      const analysed = await Promise.race([
        analyse({ kind: "analysis", name, input }, ms, until, signal),
        cancelled(signal),
      ]);
      return typeof analysed === "string" ? { ok: false, reason: analysed } : (analysed as Analysed<Report>);
    },
  });
}

/** What was thrown there is thrown here: a bug, which the job's log tells of. */
function reportOf(answer: ThreadAnswer): Analysed<unknown> {
  if (!answer.ok) throw answer.error;
  return answer;
}

/** Counts looks, not the clock: a process that was stopped for a while blames no page for it. */
function createWatch<Why>(ms: number, why: Why): () => Why | null {
  let looks = 0;
  return () => {
    looks += 1;
    return looks * LOOK_MS >= ms ? why : null;
  };
}
