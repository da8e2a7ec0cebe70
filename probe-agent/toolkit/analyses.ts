import type { AnalysisName, InputOf, ReportOf } from "#probe-agent/analysis/site/analyses.ts";

/**
 * Why there is no report: busy (others were first until the time was over), too_slow, out_of_memory, cancelled (the job
 * ended), broken (no thread came up, or two ended on it).
 */
export interface Unanalysed {
  readonly ok: false;
  readonly reason: "busy" | "too_slow" | "out_of_memory" | "cancelled" | "broken";
}

/** A report, or why there is none. */
export type Analysed<Report> = { readonly ok: true; readonly report: Report } | Unanalysed;

/**
 * Analyses of what strangers send. What is small is analysed at once; what is large in a thread of its own, where it
 * holds up neither the other jobs nor the agent's beats.
 */
export interface AnalysesPort {
  /** `ms`: the longest it may be at work, default 8000; others may be first, for as long as the job lasts. */
  run<Name extends AnalysisName>(name: Name, input: InputOf<Name>, ms?: number): Promise<Analysed<ReportOf<Name>>>;
}
