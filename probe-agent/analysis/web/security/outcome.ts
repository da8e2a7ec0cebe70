import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";

/** Outcome of one test, without points. */
export interface TestOutcome {
  /** MDN's name of the result; a key of SCORES. */
  readonly result: string;
  readonly pass: boolean;
  /** The tested value, truncated to 1024 characters; null if nothing was sent. */
  readonly value: string | null;
}

/** Input of a test: the snapshot and its parsed page. */
export interface SecurityView {
  readonly snapshot: SecuritySnapshot;
  readonly headers: readonly HeaderPair[];
  readonly page: Page;
  readonly now: Date;
}

/** Creates an outcome with a truncated value. */
export function outcome(result: string, pass: boolean, value: string | null): TestOutcome {
  return { result, pass, value: value === null ? null : value.slice(0, 1024).toWellFormed() };
}
