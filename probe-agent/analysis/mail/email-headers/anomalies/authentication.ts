import { when, type Anomaly, type Examined } from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";

/** What is odd about signatures and verdicts. */
export function authenticationAnomalies({ result, arrival }: Examined): Anomaly[] {
  const { auth, arc_chain: arc, dkim_signatures: signatures, authentication_results: fields } = result;
  const name = "Authentication-Results";
  const spf = auth.spf?.result ?? "";
  const failing = auth.dkim.some((verdict) => verdict.result === "fail");
  const passing = auth.dkim.some((verdict) => verdict.result === "pass");
  const foreign = fields.some(({ trusted }) => !trusted);
  return [
    ...when(auth.dmarc?.result === "fail", "critical", "dmarc_fail", name, "DMARC failed: From is not proven."),
    ...when(spf === "fail", "warning", "spf_fail", name, "SPF failed: the sending host is not one of the domain's."),
    ...when(spf === "softfail", "info", "spf_softfail", name, "SPF: the sending host is probably not the domain's."),
    ...when(failing && !passing, "warning", "dkim_fail", name, "No DKIM signature passed."),
    ...when(
      auth.confirmed === false,
      "warning",
      "authserv_id_foreign",
      name,
      "The host that vouches for the results did not receive the message, neither last nor next to them: they may be forged.",
    ),
    ...when(foreign, "info", "results_not_counted", name, "Results of other hosts, or further down, were not counted."),
    ...when(
      arc !== null && !arc.valid_structure,
      "warning",
      "arc_broken",
      "ARC-Seal",
      "The ARC chain is not complete or was found broken.",
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
      "A DKIM signature covers only part of the body (l=): anyone can add to it.",
    ),
    ...when(
      signatures.some(({ other_issues: others }) => others.length > 0),
      "info",
      "dkim_issues",
      "DKIM-Signature",
      "A DKIM signature has issues of its own.",
    ),
  ];
}
