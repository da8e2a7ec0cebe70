import type { CmsReport } from "#probe-agent/analysis/page/cms-report.ts";
import type { RawPage } from "#probe-agent/analysis/html/read-page.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import type { AnalysisFailure } from "#probe-agent/toolkit/analyses.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** A page to search for technologies. */
export interface TechQuestion {
  /** The parts of the page that show its technologies. Its HTML can be in `raw` instead of `html`. */
  readonly page: TechPage;
  readonly raw?: RawPage;
  /** Whether to also look for evidence of the content management system. Requires `raw`. */
  readonly withSystem?: boolean;
}

/** Technologies of a page, and the parts of the search that were left out. */
export interface TechFound {
  readonly ok: true;
  readonly technologies: readonly Technology[];
  /** Evidence of the content management system; null unless requested. */
  readonly system: CmsReport | null;
  /** Whether the page has more bytes or nodes than the search covers. */
  readonly truncated: boolean;
  /** Names of rules that are suspended because they took too long. */
  readonly suspended: readonly string[];
  /** Number of rules that there was no time for. */
  readonly unfinished: number;
  /** Number of patterns of the operator's or the built-in rules that cannot be used. */
  readonly unusable: number;
}

/**
 * Why a page was not searched: busy (other jobs were first until its time ended), too_slow (the processor time was used
 * up), out_of_memory, cancelled (the job ended), broken (the rules could not be run at all), overloaded (the thread did
 * not get its processor time).
 */
export type TechUnknown = AnalysisFailure;

/** Technology detection in separate threads, so that neither a page nor a rule can block the agent. */
export interface TechPort {
  /**
   * Searches a page. `ms` is the maximum processor time, and the maximum wait for a turn, in milliseconds. A search that
   * has found something when its time ends returns that.
   */
  detect(question: TechQuestion, ms: number): Promise<TechFound | TechUnknown>;
}
