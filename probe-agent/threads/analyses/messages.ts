import type { CmsReport } from "#probe-agent/analysis/page/cms-report.ts";
import type { RawPage } from "#probe-agent/analysis/html/read-page.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** Start data of a thread. */
export interface ThreadStart {
  readonly rules: RuleData;
  /** Three Int32 values: the number of steps so far, the number of the current rule, and the id of the thread. */
  readonly progress: SharedArrayBuffer;
}

/** Positions in `progress`. */
export const PROGRESS = { step: 0, rule: 1, thread: 2, length: 3 } as const;
/** Value of PROGRESS.rule while no rule runs. Rules are numbered in the order of RuleData. */
export const NO_RULE = -1;

/** An analysis to run in a thread. */
export interface AnalysisOrder {
  readonly kind: "analysis";
  /** A key of ANALYSES. */
  readonly name: string;
  readonly input: unknown;
}

/** A search for technologies to run in a thread. */
export interface TechOrder {
  readonly kind: "technologies";
  readonly page: TechPage;
  /** The page as received; null if `page` has its text, or if there is no text. */
  readonly raw: RawPage | null;
  /** Whether to also look for evidence of the content management system, in the same parse. */
  readonly withSystem: boolean;
  /** Processor time after which the thread ends the search with the results so far, in milliseconds. */
  readonly budgetMs: number;
  /** Time by the clock after which it does the same, in milliseconds. */
  readonly wallMs: number;
  /** Names of rules to leave out. */
  readonly skip: readonly string[];
}

/** Result of a search. */
export interface TechReport {
  readonly technologies: readonly Technology[];
  /** null unless requested. */
  readonly system: CmsReport | null;
  /** Whether the page has more bytes or nodes than the search covers. */
  readonly truncated: boolean;
  readonly unfinished: number;
  readonly unusable: number;
}

/** Answer of a thread: the report, or the error that was thrown, which is a bug of ours. */
export type ThreadAnswer<Report = unknown> =
  | { readonly ok: true; readonly report: Report }
  | { readonly ok: false; readonly error: unknown };
