import type { Clock } from "#shared/time/clock.ts";
import type { Analysis } from "#probe-agent/analysis/analysis.ts";
import type { AnalysisOrder, ThreadAnswer } from "#probe-agent/threads/analyses/messages.ts";
import type { AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import {
  createTimeCheck,
  endOfWork,
  failureOf,
  NEVER_RUN,
  wallFor,
  type TimeEnd,
} from "#probe-agent/threads/budget.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { AnalysisResult, AnalysesPort } from "#probe-agent/toolkit/analyses.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";
import { startPatience } from "#probe-agent/threads/patience.ts";
import type { ThreadEnd } from "#probe-agent/threads/thread.ts";

/** Dependencies of the analyses. */
interface AnalysesOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly threads: Pool<AnalysisThread>;
}

/** Maximum processor time of an analysis, in milliseconds. The slowest page of 5 MB takes 2.5 s; the rest is a reserve. */
const ANALYSIS_MS = 8000;
/**
 * Maximum size of input that is analysed on the agent's own event loop. So many octets take 2 ms if they are tags, 6 ms
 * if they are the densest JSON-LD.
 */
const LIGHT_BYTES = 16 * 1024;
/** If a thread ends for an unknown reason, the order is run once more. */
const ATTEMPTS = 2;

type AnalysisEnd = ThreadEnd<ThreadAnswer, TimeEnd>;
const NO_TIME: AnalysisEnd = { kind: "given_up", why: NEVER_RUN };

/** Weight of a value itself, in addition to its characters or octets. */
const ENTRY = 16;

/** Creates the analyses of an agent. Each job's port ends with its job. */
export function createAnalyses({ clock, threads }: AnalysesOptions): (limits: JobLimits) => AnalysesPort {
  async function analyse(order: AnalysisOrder, ms: number, until: number, signal: AbortSignal) {
    const patience = startPatience(failureOf(NEVER_RUN));
    const analysed = threads.use<AnalysisResult<unknown>>({ until, signal }, async (borrow) => {
      const startedAt = clock.monotonic();
      const wallMs = wallFor(ms, until - startedAt);
      patience.endAfter(wallMs);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const end = await borrow<AnalysisEnd>((thread) => {
          const leftMs = startedAt + wallMs - clock.monotonic();
          if (leftMs <= 0) return Promise.resolve(NO_TIME);
          const { check } = createTimeCheck(thread, clock, { processorMs: ms, wallMs: leftMs });
          return thread.run({ order, check });
        });
        if (end === "late") return failureOf(NEVER_RUN);
        if (end === null || end.kind === "broken") continue;
        if (end.kind === "answered") return reportOf(end.answer);
        return end.kind === "given_up" ? failureOf(end.why) : { ok: false, reason: end.kind };
      }
      return { ok: false, reason: "broken" };
    });
    return await Promise.race([analysed.finally(() => patience.forget()), patience.ended]);
  }

  return ({ signal, deadline }) => ({
    async run<Input, Report>(analysis: Analysis<Input, Report>, input: Input, ms = ANALYSIS_MS) {
      const { name } = analysis;
      if (!isHeavy(input, LIGHT_BYTES)) return { ok: true, report: analysis.analyse(input) };
      const until = endOfWork(deadline, clock.monotonic());
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

/** Reports whether a plain value holds more than `limit` octets or characters, without the names of its fields. */
export function isHeavy(value: unknown, limit: number): boolean {
  return weigh(value, limit) > limit;
}

/**
 * Returns the weight of a value. Stops counting beyond `limit`, so that a heavy value costs no more than a light one.
 */
function weigh(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return ENTRY;
  let weight = ENTRY;
  for (const one of Array.isArray(value) ? value : Object.values(value)) {
    weight += weigh(one, limit - weight);
    if (weight > limit) break;
  }
  return weight;
}
