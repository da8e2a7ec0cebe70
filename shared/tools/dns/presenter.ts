import { existing, fact, table } from "#shared/presentation/build.ts";
import type { Fact, Table, Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { millisecondsRange, date } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { listFirst, listAll } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { dns as contract } from "#shared/tools/dns/contract.ts";

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

/** Records that a fact or the headline names. The table has all. */
const MOST_NAMED = 3;

/** Reports whether a status is an answer about the name, not a failure of the lookup. */
function isAnswer(status: string): boolean {
  return status === "NOERROR" || status === "NXDOMAIN";
}

/** Says in one line what a lookup found, or why it found nothing. */
function headlineOf({ domain, results, dnssec }: Dns): string {
  const failing = results.filter(({ status }) => !isAnswer(status));
  const missing = results.find(({ status }) => status === "NXDOMAIN");
  const found = results.filter(({ records }) => records.length > 0);
  if (dnssec?.status === "bogus") return `${domain} fails DNSSEC validation: many resolvers give no answer for it`;
  if (missing !== undefined) {
    const target = missing.cname_chain.at(-1);
    return target === undefined
      ? `${domain} does not exist in the DNS`
      : `${domain} is an alias of ${target}, which does not exist`;
  }
  if (found.length === 0) return describeNothing(domain, results);
  const but = failing.length === 0 ? "" : `, but ${listAll(failing.map(({ type }) => type))} cannot be looked up`;
  return `${domain}${describeFound(found, results)}${but}`;
}

function describeNothing(domain: string, results: readonly Answer[]): string {
  const failing = results.filter(({ status }) => !isAnswer(status));
  const [first] = failing;
  if (first === undefined) return `${domain} exists, but has no ${listAll(results.map(({ type }) => type))} records`;
  if (failing.every(({ status }) => status === "TIMEOUT"))
    return `The resolver gives no answer for ${domain}${first.unreachable === null ? "" : `: ${first.unreachable}`}`;
  if (failing.every(({ status }) => status === "REFUSED")) return `The resolver refuses to answer for ${domain}`;
  return `${domain} cannot be looked up: ${listAll(failing.map(({ type, status }) => `${type} ${status}`))}`;
}

/** Says what was found: " resolves to 192.0.2.1, with 1 MX record", " MX: 10 mail.example.com", " has 2 NS and 3 TXT". */
function describeFound(found: readonly Answer[], results: readonly Answer[]): string {
  const addresses = dataOf(found, ["A", "AAAA"]);
  const others = found.filter(({ type }) => !isAddress(type));
  const counts = listAll(others.map(({ type, records }) => `${records.length} ${type}`));
  const last = others.at(-1)?.records.length === 1 ? "record" : "records";
  if (addresses.length > 0)
    return ` resolves to ${listFirst(addresses, MOST_NAMED)}${others.length === 0 ? "" : `, with ${counts} ${last}`}`;
  const absent = results.filter(({ type, status }) => isAddress(type) && status === "NOERROR");
  if (absent.length > 0) return ` has no ${listAll(absent.map(({ type }) => type))} record, but ${counts} ${last}`;
  const [only] = others;
  if (others.length > 1 || only === undefined) return ` has ${counts} ${last}`;
  return ` ${only.type}: ${listFirst(only.records.map(readableData), MOST_NAMED)}`;
}

function isAddress(type: string): boolean {
  return type === "A" || type === "AAAA";
}

/** Returns the data of all records of some types, readable. */
function dataOf(results: readonly Answer[], types: readonly string[]): readonly string[] {
  return results.filter(({ type }) => types.includes(type)).flatMap(({ records }) => records.map(readableData));
}

/** Returns the data of a record without quotation marks and final dots, where its type is known. */
function readableData(row: Answer["records"][number]): string {
  const { type, text, exchange, preference, nsdname, cname, data } = row;
  if (type === "MX" && exchange !== undefined && preference !== undefined) return `${preference} ${exchange}`;
  return text ?? nsdname ?? cname ?? data;
}

type Dnssec = NonNullable<ResultOf<typeof contract>["dnssec"]>;

const DNSSEC_STATUSES = {
  secure: ["valid", "good"],
  insecure: ["not signed", null],
  bogus: ["validation fails", "bad"],
  indeterminate: ["not known", "warning"],
} as const;

/** Says in one fact whether the answers are signed. */
function dnssecFact({ status }: Dnssec): Fact | null {
  const [text, tone] = DNSSEC_STATUSES[status];
  return fact("DNSSEC", text, { tone });
}

/** Says who validated the answers, with what they are signed, and until when. */
function signingFacts(dnssec: Dnssec, now: Date): readonly (Fact | null)[] {
  const { status, reasons, algorithms, expires_at: end, validated_by: by } = dnssec;
  return [
    fact("Why not known", status === "indeterminate" ? reasons[0] : null),
    fact("Validated by", by === null ? null : by === "local" ? "this probe" : "its resolver"),
    fact("Signed with", algorithms.join(", ")),
    fact("Signatures end", end === null ? null : date(end, now)),
  ];
}

/** Lists the zones from the root down to the name; null without a chain. */
function chainTable({ chain }: Dnssec): Table | null {
  return table(
    "Chain of trust",
    ["Zone", "DNSSEC", "Keys signed until", "Reason"],
    chain.map(({ zone, status, rrsig, reason }) => {
      const [text, tone] = DNSSEC_STATUSES[status];
      return {
        cells: [zone, text, rrsig?.expiration.slice(0, 10), reason],
        tone: tone === "good" ? null : tone,
      };
    }),
  );
}
