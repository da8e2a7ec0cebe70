import { when, type Anomaly, type ParsedHeaders } from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";

/** Finds anomalies of signatures and authentication results. */
export function authenticationAnomalies({ result, arrival }: ParsedHeaders): Anomaly[] {
  const { auth, arc_chain: arc, dkim_signatures: signatures, authentication_results: fields } = result;
  const name = "Authentication-Results";
  const spf = auth.spf?.result ?? "";
  const failing = auth.dkim.some((verdict) => verdict.result === "fail");
  const passing = auth.dkim.some((verdict) => verdict.result === "pass");
  const foreign = fields.some(({ trusted }) => !trusted);
  return [
    ...when(
      auth.dmarc?.result === "fail",
      "critical",
      "dmarc_fail",
      name,
      "DMARC failed: the sender in From is not authenticated.",
    ),
    ...when(spf === "fail", "warning", "spf_fail", name, "SPF failed: the domain does not allow the sending host."),
    ...when(
      spf === "softfail",
      "info",
      "spf_softfail",
      name,
      "SPF softfail: the domain probably does not allow the sending host.",
    ),
    ...when(failing && !passing, "warning", "dkim_fail", name, "No DKIM signature passed."),
    ...when(
      auth.confirmed === false,
      "warning",
      "authserv_id_foreign",
      name,
      "The host that wrote the results received the message neither last nor next to them: the results may be forged.",
    ),
    ...when(foreign, "info", "results_not_counted", name, "Results of other hosts or of older hops were not counted."),
    ...when(
      arc !== null && !arc.valid_structure,
      "warning",
      "arc_broken",
      "ARC-Seal",
      "The ARC chain is incomplete or broken.",
    ),
    ...when(
      signatures.some(({ expired }) => expired === true),
      "warning",
      "dkim_expired",
      "DKIM-Signature",
      arrival.source === "now"
        ? "A DKIM signature has expired."
        : "A DKIM signature had expired when the message arrived.",
    ),
    ...when(
      signatures.some(({ l }) => l !== null),
      "warning",
      "dkim_partial_body",
      "DKIM-Signature",
      "A DKIM signature covers only part of the body (l=): anyone can append text.",
    ),
    ...when(
      signatures.some(({ other_issues: others }) => others.length > 0),
      "info",
      "dkim_issues",
      "DKIM-Signature",
      "A DKIM signature has faults.",
    ),
  ];
}
