import { domainToUnicode } from "node:url";
import { registeredDomain } from "#shared/internet/registrable-domain.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { dnsFindings } from "#probe-agent/tools/dns/findings.ts";
import { typeResults, type TypeAnswer } from "#probe-agent/tools/dns/rows.ts";
import type { Untimed } from "#probe-agent/tools/implement.ts";

type Result = ResultOf<typeof dns>;

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
