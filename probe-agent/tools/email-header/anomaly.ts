import { finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Anomaly, HeaderRows } from "#probe-agent/tools/email-header/rows.ts";
import type { AddressFault } from "#probe-agent/tools/email-header/addresses.ts";
import type { Arrival } from "#probe-agent/tools/email-header/arrival.ts";
import type { MailDate } from "#probe-agent/tools/email-header/date.ts";
import type { Field, HeaderBlock } from "#probe-agent/tools/email-header/fields.ts";

type Result = HeaderRows;
/** One anomaly of a message, without its severity if the table has it. */
export type AnomalyDraft = FindingDraft<Anomaly["id"]>;

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

/** Makes an anomaly if the condition is true. `where` is the name of the field; null for the whole header. */
export function when(condition: boolean, ...draft: Parameters<typeof finding<Anomaly["id"]>>): AnomalyDraft[] {
  return condition ? [finding(...draft)] : [];
}
