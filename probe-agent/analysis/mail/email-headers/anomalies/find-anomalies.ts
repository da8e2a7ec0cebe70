import { addressAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/address.ts";
import type { Anomaly, Examined } from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";
import { authenticationAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/authentication.ts";
import { formAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/form.ts";
import { traceAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/trace.ts";

const RANK = { critical: 0, warning: 1, info: 2 } as const;

/** Everything odd, the gravest first. */
export function findAnomalies(examined: Examined): Anomaly[] {
  const found = [
    ...formAnomalies(examined),
    ...addressAnomalies(examined),
    ...traceAnomalies(examined),
    ...authenticationAnomalies(examined),
  ];
  return found.toSorted((one, other) => RANK[one.severity] - RANK[other.severity]);
}
