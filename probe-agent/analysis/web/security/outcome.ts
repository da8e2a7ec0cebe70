import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";

/** What one test found, before points. */
export interface TestOutcome {
  /** MDN's word; a key of SCORES. */
  readonly result: string;
  readonly pass: boolean;
  /** What the result was read from, cut to 1024 characters; null where nothing was sent. */
  readonly value: string | null;
}

/** What a test looks at: the snapshot, its page parsed once, and what the page's meta elements add. */
export interface SecurityView {
  readonly snapshot: SecuritySnapshot;
  readonly headers: readonly HeaderPair[];
  readonly page: Page;
  readonly now: Date;
}

/** An outcome with its value cut. */
export function outcome(result: string, pass: boolean, value: string | null): TestOutcome {
  return { result, pass, value: value === null ? null : value.slice(0, 1024).toWellFormed() };
}
