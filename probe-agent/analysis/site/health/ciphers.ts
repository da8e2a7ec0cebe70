import { notApplicable, scored, type CheckFinding } from "#probe-agent/analysis/site/health/checks.ts";
import type { Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";

/** A suite of each fault that the server takes, by its registered name; null where it takes none. */
export interface SuiteFacts {
  readonly known: true;
  /** RC4, 3DES, export, anonymous or without encryption. */
  readonly broken: string | null;
  /** The broken suite has no encryption worth the name or proves no identity: an attacker reads or changes what it protects. */
  readonly open: boolean;
  /** Without forward secrecy. */
  readonly fixed: string | null;
  /** With forward secrecy, without authenticated encryption. */
  readonly cbc: string | null;
}

/** Points for the cipher suites: the worst one counts. */
export function ciphersFinding(suites: SuiteFacts | Unknown): CheckFinding {
  if (!suites.known) return notApplicable(suites.why);
  const { broken, open, fixed, cbc } = suites;
  if (broken !== null) {
    return scored(0, broken, "Suites that are broken are offered.", { severity: open ? "critical" : "warning" });
  }
  if (fixed !== null) return scored(1, fixed, "Suites without forward secrecy are offered.");
  if (cbc !== null) return scored(2, cbc, "Suites without authenticated encryption are offered.");
  return scored(3, null, "Every suite has forward secrecy and authenticated encryption.");
}
