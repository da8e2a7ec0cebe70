import type { Clock } from "#shared/clock.ts";
import { ANALYSES, type AnalysisName, type InputOf, type ReportOf } from "#probe-agent/analysis/site/analyses.ts";
import type { AnalysisOrder, ThreadAnswer } from "#probe-agent/threads/analyses/messages.ts";
import type { AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import { isHeavy } from "#probe-agent/threads/analyses/weight.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { AnalysisResult, AnalysesPort } from "#probe-agent/toolkit/analyses.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";
import { CHECK_INTERVAL_MS } from "#probe-agent/threads/thread.ts";

/** Dependencies of the analyses. */
interface AnalysesOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly threads: Pool<AnalysisThread>;
}

/**
 * Maximum duration of an analysis, in milliseconds. The slowest page of 5 MB takes 2.5 s; the rest is a reserve,
 * because the thread has a lower priority than all others.
 */
const ANALYSIS_MS = 8000;
/** Maximum part of a job's remaining time that is reserved for its answer, in milliseconds. It is at most half. */
const RESERVE_MS = 1000;
/**
 * Maximum size of input that is analysed on the agent's own event loop. So many octets take 2 ms if they are tags, 6 ms
 * if they are the densest JSON-LD.
 */
const LIGHT_BYTES = 16 * 1024;
/** If a thread ends for an unknown reason, the order is run once more. */
const ATTEMPTS = 2;

type Late = "busy" | "too_slow";

/** Creates the analyses of an agent. Each job's port ends with its job. */
export function createAnalyses({ clock, threads }: AnalysesOptions): (limits: JobLimits) => AnalysesPort {
  async function analyse(order: AnalysisOrder, ms: number, until: number, signal: AbortSignal) {
    return await threads.use<AnalysisResult<unknown>>({ until, signal }, async (borrow) => {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const end = await borrow((thread) => {
          const left = until - clock.monotonic();
          // An analysis with less than its full time because other jobs were first is reported as busy, not as too
          // slow.
          return thread.run({
            order,
            check: createTimeCheck<Late>(Math.min(ms, left), left < ms ? "busy" : "too_slow"),
          });
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
      const until = deadline - Math.min(RESERVE_MS, (deadline - clock.monotonic()) / 2);
      const analysed = await Promise.race([
        analyse({ kind: "analysis", name, input }, ms, until, signal),
        cancelled(signal),
      ]);
      return typeof analysed === "string" ? { ok: false, reason: analysed } : (analysed as AnalysisResult<Report>);
    },
  });
}

/** Returns the report, or rethrows an error of the thread: a bug, which the job's log reports. */
function reportOf(answer: ThreadAnswer): AnalysisResult<unknown> {
  if (!answer.ok) throw answer.error;
  return answer;
}

/**
 * Counts checks instead of reading the clock, so that a page is not blamed when the process was stopped for a while.
 */
function createTimeCheck<Why>(ms: number, why: Why): () => Why | null {
  let checks = 0;
  return () => {
    checks += 1;
    return checks * CHECK_INTERVAL_MS >= ms ? why : null;
  };
}
