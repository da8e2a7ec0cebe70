import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";

type Contract = ResultOf<typeof emailHeader>;
type Flawed<T> = T & { issues: string[] };

/** One anomaly of a message, as `analyseHeaders` lists it. */
export interface Anomaly {
  id: AnomalyId;
  severity: "critical" | "warning" | "info";
  field: string | null;
  message: string;
}

/** A DKIM signature with its issues. `other_issues` are the issues whose cause is not an anomaly. */
type SignatureRow = Flawed<Contract["dkim_signatures"][number]> & { other_issues: string[] };
/** An ARC chain with its issues and the issues of its sets. */
type ArcChainRow = Flawed<
  Omit<NonNullable<Contract["arc_chain"]>, "sets"> & {
    sets: Flawed<NonNullable<Contract["arc_chain"]>["sets"][number]>[];
  }
>;

/** Analysis of headers: the tool's result before anomalies and issues become findings. */
export type HeaderRows = Omit<
  Contract,
  "findings" | "spf_now" | "elapsed_ms" | "dkim_signatures" | "arc_chain" | "list_unsubscribe"
> & {
  dkim_signatures: SignatureRow[];
  arc_chain: ArcChainRow | null;
  list_unsubscribe: Flawed<NonNullable<Contract["list_unsubscribe"]>> | null;
  anomalies: Anomaly[];
};

/** Kinds of anomalies. */
export type AnomalyId =
  | "missing_from"
  | "missing_date"
  | "missing_message_id"
  | "missing_received"
  | "duplicate_field"
  | "malformed_message_id"
  | "control_characters"
  | "eight_bit"
  | "invisible_characters"
  | "malformed_encoded_word"
  | "encoded_word_in_quotes"
  | "unclosed_syntax"
  | "malformed_address"
  | "obsolete_route"
  | "mixed_line_endings"
  | "long_line"
  | "malformed_line"
  | "obsolete_syntax"
  | "empty_from"
  | "several_from"
  | "return_path_mismatch"
  | "reply_to_mismatch"
  | "display_name_is_address"
  | "domain_mixed_scripts"
  | "domain_latin_look_alikes"
  | "domain_invisible_characters"
  | "malformed_date"
  | "wrong_weekday"
  | "future_date"
  | "future_hop"
  | "negative_delay"
  | "undated_hop"
  | "slow_hop"
  | "date_after_first_hop"
  | "old_date"
  | "many_hops"
  | "dmarc_fail"
  | "spf_fail"
  | "spf_softfail"
  | "dkim_fail"
  | "authserv_id_foreign"
  | "results_not_counted"
  | "arc_broken"
  | "dkim_expired"
  | "dkim_partial_body"
  | "dkim_issues";
