import type { AnalysisName } from "#probe-agent/analysis/site/analyses.ts";
import type { CmsReport } from "#probe-agent/analysis/page/cms/report.ts";
import type { RawPage } from "#probe-agent/analysis/html/pages/reading.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** What a thread is started with. */
export interface ThreadStart {
  readonly rules: RuleData;
  /** Two Int32: steps made so far, and which rule the thread is at. */
  readonly progress: SharedArrayBuffer;
}

/** Where `progress` holds what. */
export const PROGRESS = { step: 0, rule: 1, length: 2 } as const;
/** In the place of a rule: the thread is at none. Rules are numbered as RuleData lists them. */
export const NO_RULE = -1;

/** One analysis for a thread. */
export interface AnalysisOrder {
  readonly kind: "analysis";
  readonly name: AnalysisName;
  readonly input: unknown;
}

/** One search for technologies for a thread. */
export interface TechOrder {
  readonly kind: "technologies";
  readonly page: TechPage;
  /** The page as received; null: `page` has its text, or there is none. */
  readonly raw: RawPage | null;
  /** Also read what shows the content management system, from the same parse. */
  readonly withSystem: boolean;
  /** Milliseconds after which the thread ends the search with what it has. */
  readonly budgetMs: number;
  /** Rules to leave alone. */
  readonly skip: readonly string[];
}

/** What a search finds. */
export interface TechReport {
  readonly technologies: readonly Technology[];
  /** Null unless asked for. */
  readonly system: CmsReport | null;
  /** The page has more than is looked at: bytes or nodes. */
  readonly truncated: boolean;
  readonly unfinished: number;
  readonly unusable: number;
}

/** What a thread answers: the report, or the fault of ours that was thrown. */
export type ThreadAnswer<Report = unknown> =
  | { readonly ok: true; readonly report: Report }
  | { readonly ok: false; readonly error: unknown };
