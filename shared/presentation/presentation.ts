import type { Finding } from "#shared/contracts/findings.ts";

/**
 * What a result means for its reader. neutral: the tool reports facts and judges nothing, e.g. whois; good: nothing is
 * wrong; warning: it works, and something should be changed; bad: visitors or mail do not arrive, or an attacker gets in.
 */
export const VERDICTS = ["bad", "warning", "neutral", "good"] as const;
/** One of the four verdicts. VERDICTS lists the worst first. */
export type Verdict = (typeof VERDICTS)[number];

/** One labelled value. */
export interface Fact {
  /** A few words, e.g. "Packet loss". */
  readonly label: string;
  /** The value as text, on one line. */
  readonly value: string;
  /** Unit of a number, e.g. ms; absent for texts. */
  readonly unit?: string;
  /** Marks the value; absent: not marked. */
  readonly tone?: Verdict;
}

/** A column of a table. */
export interface Column {
  readonly label: string;
  /** The cells are numbers, aligned to the right. */
  readonly numeric?: true;
}

/** A row of a table, with one cell for each column. An empty cell has no value. */
export interface Row {
  readonly cells: readonly string[];
  /** Marks the row; absent: not marked. */
  readonly tone?: Verdict;
}

/** A table of a result. */
export interface Table {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Number of rows of the result that are not shown. */
  readonly more: number;
}

/** One bar of a series, from `start` to `start + length`. */
interface Bar {
  readonly label: string;
  readonly start: number;
  readonly length: number;
  readonly tone?: Verdict;
}

/** Bars on one axis that begins at 0, e.g. the phases of a request as a waterfall. */
export interface Series {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

/**
 * The result of a tool in the form that people read. CLI, pages and MCP show the same one. The texts come from targets
 * in part: each surface escapes them as it must. They have no line breaks and at most 300 characters each, `how` of findings 1,000.
 */
export interface Presentation {
  readonly verdict: Verdict;
  /** The answer in one line, e.g. "Expired 12 days ago: the certificate of example.com". */
  readonly headline: string;
  /** The most important one first. */
  readonly facts: readonly Fact[];
  readonly tables: readonly Table[];
  readonly series: readonly Series[];
  /** The most severe one first. */
  readonly findings: readonly Finding[];
}
