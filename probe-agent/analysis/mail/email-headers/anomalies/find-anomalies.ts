import { addressAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/address.ts";
import type { Anomaly, ParsedHeaders } from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";
import { authenticationAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/authentication.ts";
import { formAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/form.ts";
import { traceAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/trace.ts";

const RANK = { critical: 0, warning: 1, info: 2 } as const;

/** Finds all anomalies of a message, most severe first. */
export function findAnomalies(parsed: ParsedHeaders): Anomaly[] {
  const found = [
    ...formAnomalies(parsed),
    ...addressAnomalies(parsed),
    ...traceAnomalies(parsed),
    ...authenticationAnomalies(parsed),
  ];
  return found.toSorted((one, other) => RANK[one.severity] - RANK[other.severity]);
}
