import { addressAnomalies } from "#probe-agent/analysis/mail/email-headers/address-anomalies.ts";
import type { Anomaly, Examined } from "#probe-agent/analysis/mail/email-headers/anomaly.ts";
import { authenticationAnomalies } from "#probe-agent/analysis/mail/email-headers/authentication-anomalies.ts";
import { formAnomalies } from "#probe-agent/analysis/mail/email-headers/form-anomalies.ts";
import { traceAnomalies } from "#probe-agent/analysis/mail/email-headers/trace-anomalies.ts";

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
