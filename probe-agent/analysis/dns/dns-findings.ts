import { sortFindings, type Finding } from "#shared/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns.ts";

type Result = ResultOf<typeof dns>;

/** Facts that the findings are based on. */
export interface DnsFacts extends Pick<Result, "results" | "dnssec"> {
  /** Names of a circle of aliases. Null if there is none. */
  readonly circle: readonly string[] | null;
}

const RFC = "https://www.rfc-editor.org/rfc";
const MAX_REASON = 500;

/** Returns the findings about the answers to a lookup, one for each kind, worst first. */
export function dnsFindings(facts: DnsFacts): Finding[] {
  return sortFindings([...answerFindings(facts), ...signingFindings(facts)]);
}

function answerFindings({ results, circle }: DnsFacts): Finding[] {
  const typesWith = (status: string): string[] => results.filter((row) => row.status === status).map((row) => row.type);
  const found: Finding[] = [];
  const failing = typesWith("SERVFAIL");
  if (circle !== null) {
    found.push({
      id: "alias-circle",
      severity: "critical",
      message: `The aliases (CNAME) lead in a circle: ${circle.join(", ").slice(0, MAX_REASON)}.`,
      how: "Remove one of these CNAME records, or point it to a name that has address records.",
      reference: `${RFC}/rfc1034#section-3.6.2`,
      where: failing.join(", "),
    });
  } else if (failing.length > 0) {
    const [why] = results.filter(({ status }) => status === "SERVFAIL").flatMap(({ ede }) => ede);
    const cause =
      why === undefined ? "" : ` (${[why.name ?? `error ${why.code}`, why.text].filter(Boolean).join(": ")})`;
    found.push({
      id: "servfail",
      severity: "critical",
      message: `The resolver could not get an answer for ${failing.join(", ")}: SERVFAIL${cause.slice(0, MAX_REASON)}.`,
      how: "Check that the domain's name servers answer. To check its DNSSEC, run the test again with dnssec=1.",
      reference: `${RFC}/rfc8914`,
      where: failing.join(", "),
    });
  }
  const silent = typesWith("TIMEOUT");
  if (silent.length > 0) {
    found.push({
      id: "no-answer",
      severity: "warning",
      message: `The resolver gave no answer for ${silent.join(", ")} in time.`,
      how: "Run the test again from several locations. One slow resolver does not mean that the domain has a fault.",
      reference: null,
      where: silent.join(", "),
    });
  }
  return found;
}

function signingFindings({ dnssec }: DnsFacts): Finding[] {
  const reason = dnssec?.reasons[0]?.slice(0, MAX_REASON);
  const why = reason === undefined ? "" : ` ${reason}`;
  switch (dnssec?.status) {
    case "bogus":
      return [
        {
          id: "dnssec-bogus",
          severity: "critical",
          message: `DNSSEC validation fails, so validating resolvers give no answer.${why}`,
          how: "Make the DS record at the registrar match the zone's keys and sign the zone again, or remove the DS record.",
          reference: `${RFC}/rfc4035#section-5.5`,
          where: "dnssec",
        },
      ];
    case "insecure":
      return [
        {
          id: "dnssec-insecure",
          severity: "info",
          message: `The answers are not protected by DNSSEC.${why}`,
          how: "Sign the zone and publish its DS record through the registrar.",
          reference: `${RFC}/rfc9364`,
          where: "dnssec",
        },
      ];
    default:
      return [];
  }
}
