import type { Finding } from "#shared/contracts/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";
import { adviseOn, finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { HEADER_ADVICE } from "#probe-agent/analysis/mail/email-headers/advice.ts";
import type { HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import { addAddress } from "#probe-agent/analysis/mail/spf/advice.ts";
import { publishTxt } from "#probe-agent/analysis/mail/tag-list.ts";

type SpfNow = NonNullable<ResultOf<typeof emailHeader>["spf_now"]>;

type Draft = FindingDraft<keyof typeof HEADER_ADVICE>;

/** Anomalies whose causes have separate findings. */
const COVERED_BY_CAUSES: ReadonlySet<Draft["id"]> = new Set<Draft["id"]>(["dkim_issues", "arc_broken"]);

/** Maximum number of findings of one kind. A header block can have a hundred signatures. */
const MAX_OF_A_KIND = 20;

/** Makes findings of the anomalies of headers and of the issues of signatures, ARC and List-Unsubscribe. */
export function headerFindings(
  rows: Pick<HeaderRows, "anomalies" | "dkim_signatures" | "arc_chain" | "list_unsubscribe">,
): Finding[] {
  const anomalies = rows.anomalies.filter(({ id }) => !COVERED_BY_CAUSES.has(id));
  const drafts = [
    ...anomalies.map(({ id, where, message, severity }) => finding(id, where, message, severity)),
    ...signatureFindings(rows).slice(0, MAX_OF_A_KIND),
    ...arcFindings(rows).slice(0, MAX_OF_A_KIND),
    ...(rows.list_unsubscribe?.issues ?? []).map((message) =>
      finding("list-unsubscribe-fault", "List-Unsubscribe", message),
    ),
  ];
  return adviseOn<Draft["id"], null>(HEADER_ADVICE, drafts, null);
}

/** Makes one finding for each signature whose issues are not covered by an anomaly. */
function signatureFindings({ dkim_signatures: signatures }: Pick<HeaderRows, "dkim_signatures">): Draft[] {
  return signatures.flatMap(({ d, s, other_issues: others }, index) => {
    const message = `The signature of ${d ?? "no domain"} (selector ${s ?? "none"}): ${others.join(" ")}`;
    return others.length === 0 ? [] : [finding("dkim-signature-fault", `DKIM-Signature ${index + 1}`, message)];
  });
}

function arcFindings({ arc_chain: chain }: Pick<HeaderRows, "arc_chain">): Draft[] {
  if (chain === null) return [];
  const sets = chain.sets.filter(({ issues }) => issues.length > 0);
  return [
    ...chain.issues.map((message) => finding("arc_broken", "ARC-Seal", message)),
    ...sets.map(({ i, issues }) => finding("arc-set-fault", `ARC set ${i}`, issues.join(" "))),
  ];
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
  const draft = finding(claimed === null ? "spf-not-passed-today" : "spf-changed", "spf_now", message);
  // Mail of a host that passed then and fails now does not arrive. In the other direction nothing breaks.
  const isWorse = result !== "pass" && (claimed === null || claimed.toLowerCase() === "pass");
  const advised: Draft = isWorse
    ? { ...draft, severity: "warning", how: allowHost(domain, record, ip, result) }
    : draft;
  return adviseOn(HEADER_ADVICE, [advised], null);
}

function allowHost(domain: string, record: string | null, ip: string, result: SpfNow["result"]): string {
  if (result === "permerror") return `Correct the SPF record of ${domain}; email-check lists its faults.`;
  const text = addAddress(record ?? "v=spf1 ~all", ip);
  return `If ${ip} still sends mail for ${domain}: ${publishTxt(domain, text)}. Otherwise no change is needed.`;
}
