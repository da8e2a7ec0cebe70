import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";
import type { SmtpFindingId } from "#probe-agent/analysis/mail/smtp/findings.ts";
import type { Remark } from "#probe-agent/analysis/mail/remarks.ts";

type Result = ResultOf<typeof smtpTest>;

/** One remark on a mail server. `where` is the field of the result. */
export type SmtpRemark = Remark<SmtpFindingId>;

/** Makes a remark about a field of the result. */
export function remark(id: SmtpFindingId, where: string, message: string): SmtpRemark {
  return { id, where, message };
}

/** Report on a server without findings, which the remarks are made from. */
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
