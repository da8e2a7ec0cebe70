import type { CmsReport } from "#probe-agent/analysis/page/cms/report.ts";
import type { RawPage } from "#probe-agent/analysis/html/pages/reading.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** A page to look at. */
export interface TechQuestion {
  /** What shows its technologies; its HTML may be in `raw` in the place of `html`. */
  readonly page: TechPage;
  readonly raw?: RawPage;
  /** Also read what shows the content management system; needs `raw`. */
  readonly withSystem?: boolean;
}

/** What a page was found to use, and what was left out. */
export interface TechFound {
  readonly ok: true;
  readonly technologies: readonly Technology[];
  /** What shows the content management system; null unless asked for. */
  readonly system: CmsReport | null;
  /** The page has more than is looked at: bytes or nodes. */
  readonly truncated: boolean;
  /** Names of rules that are left alone for a while since they took too long. */
  readonly suspended: readonly string[];
  /** Rules there was no time for. */
  readonly unfinished: number;
  /** Patterns of the operator's or the built-in rules that cannot be used. */
  readonly unusable: number;
}

/**
 * Why a page was not looked at: busy (others were first until its time was over), too_slow, out_of_memory, cancelled (the
 * job ended), broken (the rules could not be run at all).
 */
export interface TechUnknown {
  readonly ok: false;
  readonly reason: "busy" | "too_slow" | "out_of_memory" | "cancelled" | "broken";
}

/** Fingerprints of pages, made in threads of their own: neither a page nor a rule can hold the agent up. */
export interface TechPort {
  /** At most `ms` from now, waiting included. */
  detect(question: TechQuestion, ms: number): Promise<TechFound | TechUnknown>;
}
