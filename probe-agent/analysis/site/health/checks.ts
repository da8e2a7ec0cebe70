import type { Severity } from "#shared/contracts/findings.ts";
import type { CheckDefinition } from "#probe-agent/analysis/site/health/definition.ts";
import { PAGE_CHECKS } from "#probe-agent/analysis/site/health/table-page.ts";
import { TRANSPORT_CHECKS } from "#probe-agent/analysis/site/health/table-transport.ts";

/** Scoring table with all checks in order. */
export const CHECKS = { ...TRANSPORT_CHECKS, ...PAGE_CHECKS } as const satisfies Readonly<
  Record<string, CheckDefinition>
>;

/** Stable name of a check. */
export type CheckId = keyof typeof CHECKS;

/** Result of one check. */
export interface CheckFinding {
  /** Points earned. null if the check does not apply or its facts are unknown. */
  readonly score: number | null;
  /** Value found. null if there is none. */
  readonly value: string | null;
  /** Meaning of the value, one sentence. */
  readonly detail: string;
  /** Severity of the loss, if it differs from the default: warning from 2 lost points, else info. */
  readonly severity?: Severity;
  /** Advice for this case, if it differs from the table. */
  readonly how?: string;
}

/** Returns the result of a check with its points. */
export function scored(
  score: number,
  value: string | null,
  detail: string,
  more: Pick<CheckFinding, "severity" | "how"> = {},
): CheckFinding {
  return { score, value: value === null ? null : value.slice(0, 500), detail, ...more };
}

/** Returns the result of a check that is left out of the score. */
export function notApplicable(detail: string): CheckFinding {
  return { score: null, value: null, detail };
}

/** Result of a check that needs the page's HTML, if the HTML was left out. */
export const UNREAD = notApplicable("The page is too complex to analyse.");

/** Ids of all checks in order. */
export const CHECK_IDS = Object.keys(CHECKS) as readonly CheckId[];
