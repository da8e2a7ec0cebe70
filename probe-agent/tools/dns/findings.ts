import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";

type Result = ResultOf<typeof dns>;

/** Facts that the findings are based on. */
export interface DnsFacts extends Pick<Result, "results" | "dnssec"> {
  /** Names of a circle of aliases. Null if there is none. */
  readonly circle: readonly string[] | null;
}

const RFC = "https://www.rfc-editor.org/rfc";
const MAX_REASON = 500;

/** Severity and advice for each kind of finding. */
const DNS_ADVICE = {
  "alias-circle": {
    severity: "critical",
    how: "Remove one of these CNAME records, or point it to a name that has address records.",
    reference: `${RFC}/rfc1034#section-3.6.2`,
  },
  servfail: {
    severity: "critical",
    how: "Check that the domain's name servers answer. To check its DNSSEC, run the test again with dnssec=1.",
    reference: `${RFC}/rfc8914`,
  },
  "no-answer": {
    severity: "warning",
    how: "Run the test again from several locations. One slow resolver does not mean that the domain has a fault.",
    reference: null,
  },
  "dnssec-bogus": {
    severity: "critical",
    how: "Make the DS record at the registrar match the zone's keys and sign the zone again, or remove the DS record.",
    reference: `${RFC}/rfc4035#section-5.5`,
  },
  "dnssec-insecure": {
    severity: "info",
    how: "Sign the zone and publish its DS record through the registrar.",
    reference: `${RFC}/rfc9364`,
  },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof DNS_ADVICE>;

/** Returns the findings about the answers to a lookup, one for each kind, worst first. */
export function dnsFindings(facts: DnsFacts): Finding[] {
  return sortFindings(adviseOn(DNS_ADVICE, [...answerFindings(facts), ...signingFindings(facts)], null));
}

function answerFindings({ results, circle }: DnsFacts): Draft[] {
  const typesWith = (status: string): string[] => results.filter((row) => row.status === status).map((row) => row.type);
  const found: Draft[] = [];
  const failing = typesWith("SERVFAIL");
  if (circle !== null) {
    found.push(
      finding(
        "alias-circle",
        failing.join(", "),
        `The aliases (CNAME) lead in a circle: ${circle.join(", ").slice(0, MAX_REASON)}.`,
      ),
    );
  } else if (failing.length > 0) {
    const [why] = results.filter(({ status }) => status === "SERVFAIL").flatMap(({ ede }) => ede);
    const cause =
      why === undefined ? "" : ` (${[why.name ?? `error ${why.code}`, why.text].filter(Boolean).join(": ")})`;
    found.push(
      finding(
        "servfail",
        failing.join(", "),
        `The resolver could not get an answer for ${failing.join(", ")}: SERVFAIL${cause.slice(0, MAX_REASON)}.`,
      ),
    );
  }
  const silent = typesWith("TIMEOUT");
  if (silent.length > 0) {
    found.push(
      finding("no-answer", silent.join(", "), `The resolver gave no answer for ${silent.join(", ")} in time.`),
    );
  }
  return found;
}

function signingFindings({ dnssec }: DnsFacts): Draft[] {
  const reason = dnssec?.reasons[0]?.slice(0, MAX_REASON);
  const why = reason === undefined ? "" : ` ${reason}`;
  switch (dnssec?.status) {
    case "bogus":
      return [
        finding("dnssec-bogus", "dnssec", `DNSSEC validation fails, so validating resolvers give no answer.${why}`),
      ];
    case "insecure":
      return [finding("dnssec-insecure", "dnssec", `The answers are not protected by DNSSEC.${why}`)];
    default:
      return [];
  }
}
