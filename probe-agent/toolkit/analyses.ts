import type { Analysis } from "#probe-agent/analysis/analysis.ts";

/**
 * Why there is no report: busy (other jobs were first until the time ended), too_slow (the processor time was used up),
 * out_of_memory, cancelled (the job ended), broken (no thread could be started, or two of them ended while they worked on
 * it), overloaded (its thread did not get its processor time).
 */
export type AnalysisFailure =
  | { readonly ok: false; readonly reason: "busy" | "too_slow" | "out_of_memory" | "cancelled" | "broken" }
  | Overloaded;

/** The probe had too little processor time. */
export interface Overloaded {
  readonly ok: false;
  readonly reason: "overloaded";
  /** Whether half of the processor time of the work was used nevertheless: then its input may be hostile. */
  readonly isHalfUsed: boolean;
}

/** A report, or why there is none. */
export type AnalysisResult<Report> = { readonly ok: true; readonly report: Report } | AnalysisFailure;

/**
 * Analyses of untrusted input. Small input is analysed immediately. Large input is analysed in a separate thread, where
 * it delays neither the other jobs nor the agent's heartbeats.
 */
export interface AnalysesPort {
  /**
   * Runs one analysis. `ms` is its maximum processor time in milliseconds (default: 8000). Other analyses may be first,
   * and the wait for them is limited only by the job's time.
   */
  run<Input, Report>(
    analysis: Analysis<Input, Report>,
    input: NoInfer<Input>,
    ms?: number,
  ): Promise<AnalysisResult<Report>>;
}
