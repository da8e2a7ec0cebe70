import type { Anomaly, AnomalyId, HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import type { AddressFault } from "#probe-agent/analysis/mail/email-headers/addresses.ts";
import type { Arrival } from "#probe-agent/analysis/mail/email-headers/arrival.ts";
import type { MailDate } from "#probe-agent/analysis/mail/email-headers/date.ts";
import type { Field, HeaderBlock } from "#probe-agent/analysis/mail/email-headers/fields.ts";

type Result = HeaderRows;
/** Something odd about a message. */
export type { Anomaly };

/** What anomalies are found in. */
export interface Examined {
  readonly block: HeaderBlock;
  readonly byKey: ReadonlyMap<string, readonly Field[]>;
  readonly date: MailDate | null;
  readonly addressFaults: ReadonlySet<AddressFault>;
  /** Encoded words in any field that cannot be decoded. */
  readonly malformedWords: number;
  readonly result: Omit<Result, "anomalies" | "source" | "observed_at" | "elapsed_ms" | "limitations">;
  readonly arrival: Arrival;
  readonly now: Date;
}

/** One finding. */
export function anomaly(severity: Anomaly["severity"], id: AnomalyId, field: string | null, message: string): Anomaly {
  return { id, severity, field, message };
}

/** The finding if the condition holds. */
export function when(condition: boolean, ...finding: Parameters<typeof anomaly>): Anomaly[] {
  return condition ? [anomaly(...finding)] : [];
}
