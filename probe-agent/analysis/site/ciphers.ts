import { notApplicable, scored, type CheckFinding } from "#probe-agent/analysis/site/checks.ts";
import type { Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";

/** One suite with each fault that the server accepts, by its registered name. null if it accepts none. */
export interface SuiteFacts {
  readonly known: true;
  /** Suite with RC4, 3DES or export encryption, without authentication, or without encryption. */
  readonly broken: string | null;
  /**
   * Whether the broken suite has no effective encryption or no authentication, so that an attacker can read or change
   * the traffic.
   */
  readonly open: boolean;
  /** Suite without forward secrecy. */
  readonly fixed: string | null;
  /** Suite with forward secrecy, but without authenticated encryption. */
  readonly cbc: string | null;
}

/** Grades the cipher suites by the worst one. */
export function ciphersFinding(suites: SuiteFacts | Unknown): CheckFinding {
  if (!suites.known) return notApplicable(suites.why);
  const { broken, open, fixed, cbc } = suites;
  if (broken !== null) {
    return scored(0, broken, "Insecure suites are offered.", { severity: open ? "critical" : "warning" });
  }
  if (fixed !== null) return scored(1, fixed, "Suites without forward secrecy are offered.");
  if (cbc !== null) return scored(2, cbc, "Suites without authenticated encryption are offered.");
  return scored(3, null, "Every suite has forward secrecy and authenticated encryption.");
}
