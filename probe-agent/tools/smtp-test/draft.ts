import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test/contract.ts";
import type { SmtpFindingId } from "#probe-agent/tools/smtp-test/advice.ts";
import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";

type Result = ResultOf<typeof smtpTest>;

/** One finding on a mail server. `where` is the field of the result. */
export type SmtpDraft = FindingDraft<SmtpFindingId>;

/** Report on a server without findings, which the findings are made from. */
export type ServerReport = Omit<
  Result,
  | "target"
  | "mx_used"
  | "mx_records"
  | "attempts"
  | "ip"
  | "ip_version"
  | "port"
  | "source"
  | "observed_at"
  | "elapsed_ms"
  | "limitations"
  | "findings"
>;

/** Maximum number of characters of a reply that a message quotes. */
export const MAX_QUOTED = 200;
