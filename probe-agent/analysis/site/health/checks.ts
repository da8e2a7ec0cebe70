import type { Severity } from "#shared/findings.ts";
import type { CheckDefinition } from "#probe-agent/analysis/site/health/definition.ts";
import { PAGE_CHECKS } from "#probe-agent/analysis/site/health/table-page.ts";
import { TRANSPORT_CHECKS } from "#probe-agent/analysis/site/health/table-transport.ts";

/** The scoring table: every check in its order. */
export const CHECKS = { ...TRANSPORT_CHECKS, ...PAGE_CHECKS } as const satisfies Readonly<
  Record<string, CheckDefinition>
>;

/** Stable name of a check. */
export type CheckId = keyof typeof CHECKS;

/** What a check found. */
export interface CheckFinding {
  /** Points earned, null where the check does not apply or could not be told. */
  readonly score: number | null;
  /** What was found, null where nothing was. */
  readonly value: string | null;
  /** What that means, one sentence. */
  readonly detail: string;
  /** How much the loss matters, where points do not say it; absent: warning from 2 points on, else info. */
  readonly severity?: Severity;
  /** What to change in this case; absent: what the table says. */
  readonly how?: string;
}

/** A finding of that many points. */
export function scored(
  score: number,
  value: string | null,
  detail: string,
  more: Pick<CheckFinding, "severity" | "how"> = {},
): CheckFinding {
  return { score, value: value === null ? null : value.slice(0, 500), detail, ...more };
}

/** A check that is left out. */
export function notApplicable(detail: string): CheckFinding {
  return { score: null, value: null, detail };
}

/** What a page would have to be read for, where its HTML was left out. */
export const UNREAD = notApplicable("The page takes too much to analyse.");

/** All checks in their order. */
export const CHECK_IDS = Object.keys(CHECKS) as readonly CheckId[];
