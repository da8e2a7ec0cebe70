import type { Anomaly, AnomalyId, HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import type { AddressFault } from "#probe-agent/analysis/mail/email-headers/addresses.ts";
import type { Arrival } from "#probe-agent/analysis/mail/email-headers/arrival.ts";
import type { MailDate } from "#probe-agent/analysis/mail/email-headers/date.ts";
import type { Field, HeaderBlock } from "#probe-agent/analysis/mail/email-headers/fields.ts";

type Result = HeaderRows;
/** One anomaly of a message. */
export type { Anomaly };

/** Parsed message headers that anomalies are searched in. */
export interface ParsedHeaders {
  readonly block: HeaderBlock;
  readonly byKey: ReadonlyMap<string, readonly Field[]>;
  readonly date: MailDate | null;
  readonly addressFaults: ReadonlySet<AddressFault>;
  /** Number of encoded words in all fields that cannot be decoded. */
  readonly malformedWords: number;
  readonly result: Omit<Result, "anomalies" | "source" | "observed_at" | "elapsed_ms" | "limitations">;
  readonly arrival: Arrival;
  readonly now: Date;
}

/** Makes an anomaly. */
export function anomaly(severity: Anomaly["severity"], id: AnomalyId, field: string | null, message: string): Anomaly {
  return { id, severity, field, message };
}

/** Makes an anomaly if the condition is true. */
export function when(condition: boolean, ...finding: Parameters<typeof anomaly>): Anomaly[] {
  return condition ? [anomaly(...finding)] : [];
}
