import type { Severity } from "#shared/contracts/findings.ts";
import type { ANOMALY_ADVICE } from "#probe-agent/analysis/mail/email-headers/advice.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";

type Contract = ResultOf<typeof emailHeader>;
type Flawed<T> = T & { issues: string[] };

/** One anomaly of a message, as `analyseHeaders` lists it. `where` is the name of the field. */
export interface Anomaly {
  id: keyof typeof ANOMALY_ADVICE;
  severity: Severity;
  where: string | null;
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
