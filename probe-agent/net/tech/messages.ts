import type { RuleData } from "#probe-agent/analysis/tech/rule.ts";
import type { TechPage } from "#probe-agent/analysis/tech/subject.ts";
import type { Technology } from "#probe-agent/analysis/tech/technology.ts";

/** What a thread is started with. */
export interface WorkerStart {
  readonly rules: RuleData;
  /** Two Int32: steps made so far, and which rule the thread is at. */
  readonly progress: SharedArrayBuffer;
}

/** Where `progress` holds what. */
export const PROGRESS = { step: 0, rule: 1, length: 2 } as const;
/** In the place of a rule: the thread is at none. */
export const NO_RULE = -1;

/** One page for a thread. */
export interface WorkerJob {
  readonly page: TechPage;
  /** Milliseconds after which the thread ends the search with what it has. */
  readonly budgetMs: number;
  /** Rules to leave alone. */
  readonly skip: readonly string[];
}

/** What a thread says when it is ready: the rules' names, in the order `progress` numbers them in. */
export interface WorkerReady {
  readonly names: readonly string[];
}

/** What a thread found on a page. */
export interface WorkerAnswer {
  readonly technologies: readonly Technology[];
  readonly unfinished: number;
  readonly unusable: number;
}
