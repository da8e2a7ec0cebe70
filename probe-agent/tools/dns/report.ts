import { domainToUnicode } from "node:url";
import { registeredDomain } from "#shared/internet/registrable-domain.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { typeResults, type TypeAnswer } from "#probe-agent/tools/dns/rows.ts";
import type { Untimed } from "#probe-agent/tools/implement.ts";
import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";

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

/** Everything that a look-up found. */
interface LookupFacts extends Pick<Result, "domain" | "dnssec" | "server"> {
  readonly answers: readonly TypeAnswer[];
  /** Names of a circle of aliases; null if there is none. */
  readonly circle: readonly string[] | null;
  readonly observedAt: Date;
}

/** Returns the result of the dns tool. `domain` is in A-label form. */
export function reportLookup({ domain, answers, dnssec, circle, server, observedAt }: LookupFacts): Untimed<Result> {
  const { results, limitations } = typeResults(domain, answers);
  const groups = results.map(({ type, records }) => [type, records.map(({ data }) => data)]);
  const failing = answers.filter(isFailing).map(({ type }) => type);
  return {
    domain: domainToUnicode(domain) || domain,
    ascii: domain,
    registrable_domain: registeredDomain(domain),
    results,
    records: Object.fromEntries(groups) as Result["records"],
    dnssec,
    findings: dnsFindings({ results, dnssec, circle }),
    server,
    observed_at: observedAt.toISOString(),
    limitations:
      circle === null
        ? limitations
        : [...limitations, `${failing.join(", ")}: the aliases (CNAME) lead in a circle: ${circle.join(", ")}`],
  };
}

/** Reports whether the resolver failed to get an answer, as it does for a circle of aliases. */
export function isFailing({ answer }: TypeAnswer): boolean {
  return answer.status === "SERVFAIL" && answer.answers.length === 0;
}
