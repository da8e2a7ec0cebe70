import type { Finding } from "#shared/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";
import { ANOMALY_ADVICE } from "#probe-agent/analysis/mail/email-headers/anomalies/advice.ts";
import type { AnomalyId, HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";

import { addAddress } from "#probe-agent/analysis/mail/spf/advice.ts";
import { publishTxt } from "#probe-agent/analysis/mail/tag-list.ts";

type SpfNow = NonNullable<ResultOf<typeof emailHeader>["spf_now"]>;

/** Anomalies whose causes have separate findings. */
const COVERED_BY_CAUSES: ReadonlySet<AnomalyId> = new Set<AnomalyId>(["dkim_issues", "arc_broken"]);

/** Maximum number of findings of one kind. A header block can have a hundred signatures. */
const MAX_OF_A_KIND = 20;
const DKIM_FAULT = ANOMALY_ADVICE.dkim_issues;
const ARC_FAULT = ANOMALY_ADVICE.arc_broken;

/** Makes findings of the anomalies of headers and of the issues of signatures, ARC and List-Unsubscribe. */
export function headerFindings(
  rows: Pick<HeaderRows, "anomalies" | "dkim_signatures" | "arc_chain" | "list_unsubscribe">,
): Finding[] {
  return [
    ...rows.anomalies.filter(({ id }) => !COVERED_BY_CAUSES.has(id)).map(anomalyFinding),
    ...signatureFindings(rows).slice(0, MAX_OF_A_KIND),
    ...arcFindings(rows).slice(0, MAX_OF_A_KIND),
    ...unsubscribeFindings(rows),
  ];
}

function anomalyFinding({ id, severity, field, message }: HeaderRows["anomalies"][number]): Finding {
  return { id: id.replaceAll("_", "-"), severity, message, ...ANOMALY_ADVICE[id], where: field };
}

/** Makes one finding for each signature whose issues are not covered by an anomaly. */
function signatureFindings({ dkim_signatures: signatures }: Pick<HeaderRows, "dkim_signatures">): Finding[] {
  return signatures.flatMap(({ d, s, other_issues: others }, index): Finding[] => {
    const message = `The signature of ${d ?? "no domain"} (selector ${s ?? "none"}): ${others.join(" ")}`;
    const where = `DKIM-Signature ${index + 1}`;
    return others.length === 0
      ? []
      : [{ id: "dkim-signature-fault", severity: "warning", message, ...DKIM_FAULT, where }];
  });
}

function arcFindings({ arc_chain: chain }: Pick<HeaderRows, "arc_chain">): Finding[] {
  if (chain === null) return [];
  const broken = chain.issues.map((message): Finding => {
    return { id: "arc-broken", severity: "warning", message, ...ARC_FAULT, where: "ARC-Seal" };
  });
  const sets = chain.sets.flatMap(({ i, issues }): Finding[] =>
    issues.length === 0
      ? []
      : [{ id: "arc-set-fault", severity: "warning", message: issues.join(" "), ...DKIM_FAULT, where: `ARC set ${i}` }],
  );
  return [...broken, ...sets];
}

function unsubscribeFindings({ list_unsubscribe: list }: Pick<HeaderRows, "list_unsubscribe">): Finding[] {
  return (list?.issues ?? []).map((message): Finding => {
    return {
      id: "list-unsubscribe-fault",
      severity: "warning",
      message,
      how: "Send List-Unsubscribe: <https://example.com/unsubscribe?id=1> and List-Unsubscribe-Post: List-Unsubscribe=One-Click, and sign both fields with DKIM (h=).",
      reference: "https://www.rfc-editor.org/rfc/rfc8058#section-3.1",
      where: "List-Unsubscribe",
    };
  });
}

/**
 * Compares today's SPF result with the headers. There is no finding if they agree, or if the headers have none and SPF
 * does not refuse the host today.
 */
export function spfNowFindings(now: SpfNow | null): Finding[] {
  if (now === null || now.result === "temperror") return [];
  const { result, claimed, ip, domain, record, agrees, reason } = now;
  const isRefused = result === "fail" || result === "permerror";
  if (agrees === true || (claimed === null && !isRefused && result !== "softfail")) return [];
  const because = reason === null ? "" : ` (${reason})`;
  const today = `Today's SPF result for ${ip} and ${domain} is ${result}${because}`;
  const message =
    claimed === null
      ? `${today}; the headers give no SPF result.`
      : `${today}; the result in the headers is ${claimed}.`;
  const reference = "https://www.rfc-editor.org/rfc/rfc7208#section-2.6";
  const id = claimed === null ? "spf-not-passed-today" : "spf-changed";
  // Mail of a host that passed then and fails now does not arrive. In the other direction nothing breaks.
  const isWorse = result !== "pass" && (claimed === null || claimed.toLowerCase() === "pass");
  return [
    {
      id,
      severity: isWorse ? "warning" : "info",
      message,
      how: isWorse ? allowHost(domain, record, ip, result) : null,
      reference,
      where: "spf_now",
    },
  ];
}

function allowHost(domain: string, record: string | null, ip: string, result: SpfNow["result"]): string {
  if (result === "permerror") return `Correct the SPF record of ${domain}; email-check lists its faults.`;
  const text = addAddress(record ?? "v=spf1 ~all", ip);
  return `If ${ip} still sends mail for ${domain}: ${publishTxt(domain, text)}. Otherwise no change is needed.`;
}
