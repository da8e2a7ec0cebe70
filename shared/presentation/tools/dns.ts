import { existing, fact, table } from "#shared/presentation/build.ts";
import type { Fact, Table, Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/presentation/presenter.ts";
import { dataOf, headlineOf, isAnswer, MOST_NAMED, readableData } from "#shared/presentation/tools/dns-headline.ts";
import { chainTable, dnssecFact, signingFacts } from "#shared/presentation/tools/dnssec.ts";
import { millisecondsRange } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { dns as contract } from "#shared/tools/dns.ts";

type Dns = ResultOf<typeof contract>;
type Answer = Dns["results"][number];

/** What an answer without records means. */
const STATUSES: Readonly<Record<string, string>> = {
  NOERROR: "no records",
  NXDOMAIN: "the name does not exist",
  SERVFAIL: "fails (SERVFAIL)",
  REFUSED: "refused",
  TIMEOUT: "no answer",
};

/** dns: what a name resolves to, then the records with their times to live as dig prints them, and DNSSEC. */
export const dns = definePresenter(contract, (data, now) => {
  const { results, dnssec } = data;
  const failing = results.filter(({ status }) => !isAnswer(status));
  const aliases = results.map(({ cname_chain: chain }) => chain).toSorted((a, b) => b.length - a.length)[0] ?? [];
  const negative = results.find(({ authority_soa: soa }) => soa !== null)?.authority_soa ?? null;
  return {
    verdict: verdictOfAnswers(data),
    headline: headlineOf(data),
    facts: existing(
      fact("Failing", failing.map(({ type, status }) => `${type} (${status})`).join(", "), { tone: "bad" }),
      fact("Addresses", listFirst(dataOf(results, ["A", "AAAA"]), MOST_NAMED)),
      fact("Response time", millisecondsRange(results.flatMap(({ rtt_ms: ms }) => ms ?? [])), { unit: "ms" }),
      ...valueFacts(results),
      dnssec === null ? null : dnssecFact(dnssec),
      fact("Aliases", listFirst(aliases, MOST_NAMED)),
      fact("Resolver", listFirst(Array.from(new Set(results.map(describeServer))), MOST_NAMED)),
      fact("Resolver's reason", reasonOf(results)),
      fact("Absence is cached for", negative === null ? null : writeDuration(Math.min(negative.ttl, negative.minimum))),
      ...(dnssec === null ? [] : signingFacts(dnssec, now)),
      fact("Name in DNS", data.ascii === data.domain ? null : data.ascii),
    ),
    tables: existing(recordTable(data), dnssec === null ? null : chainTable(dnssec)),
  };
});

/** A name without records of the requested types is not judged: nobody has to have e.g. an AAAA record. */
function verdictOfAnswers({ results, findings }: Dns): Verdict {
  const own = results.map(({ status, records }): Verdict => {
    if (status === "NXDOMAIN") return "bad";
    return isAnswer(status) ? (records.length > 0 ? "good" : "neutral") : "warning";
  });
  const isEmpty = !own.includes("good");
  return worst([verdictOf(findings), ...own.filter((verdict) => verdict !== "neutral" || isEmpty)]);
}

function valueFacts(results: readonly Answer[]): readonly (Fact | null)[] {
  const listed = (type: string): string => listFirst(dataOf(results, [type]), MOST_NAMED);
  const serial = results.flatMap(({ records }) => records).find(({ type }) => type === "SOA")?.serial;
  return [
    fact("Mail hosts", listed("MX")),
    fact("Name servers", listed("NS")),
    fact("Alias of", listed("CNAME")),
    fact("Zone serial", serial),
    fact("TXT records", dataOf(results, ["TXT"]).length || null),
  ];
}

/** Writes a resolver: "192.0.2.53 (UDP)", with the port if it is not 53. */
function describeServer({ server, transport }: Answer): string {
  return `${server.replace(/#53$/, "")} (${transport.toUpperCase()})`;
}

function reasonOf(results: readonly Answer[]): string | null {
  const [why] = results.filter(({ status }) => status !== "SERVFAIL").flatMap(({ ede }) => ede);
  return why === undefined
    ? null
    : [why.name ?? `error ${why.code}`, why.text].filter((text) => text !== "").join(": ");
}

function recordTable({ ascii, results }: Dns): Table | null {
  return table(
    "Records",
    ["Type", "#TTL (s)", "Data", "Name"],
    results.flatMap((answer) =>
      answer.records.length === 0
        ? [emptyRow(answer)]
        : answer.records.map((row) => ({
            cells: [row.type, row.ttl, readableData(row), row.name === ascii ? null : row.name],
            tone: null,
          })),
    ),
  );
}

function emptyRow({ type, status }: Answer) {
  const cells: readonly (string | number | null)[] = [type, null, STATUSES[status] ?? status, null];
  return { cells, tone: isAnswer(status) ? null : ("bad" as const) };
}
