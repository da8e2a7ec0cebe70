import type { AnalysisName } from "#probe-agent/analysis/analyses.ts";

/** One analysis for a thread. */
export interface AnalysisOrder {
  readonly name: AnalysisName;
  readonly input: unknown;
}

/** What a thread answers: the report, or the fault of ours that was thrown. */
export type AnalysisAnswer =
  | { readonly ok: true; readonly report: unknown }
  | { readonly ok: false; readonly error: unknown };
