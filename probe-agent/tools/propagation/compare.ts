import type { PropagationResult } from "#shared/tools/propagation/contract.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { failureCause, isAnswer, isFailure, listFailures } from "#probe-agent/analysis/dns/propagation-failures.ts";
import type { DnsAnswer, DnsRecord } from "#probe-agent/port/dns.ts";

type Row = PropagationResult["resolvers"][number];
type Authoritative = NonNullable<PropagationResult["authoritative"]>;

/** An answer in the form in which answers are compared. */
export interface ComparableAnswer {
  readonly status: string;
  readonly answers: readonly string[];
  readonly cname_chain: readonly string[];
  readonly ttl: number | null;
}

/** A resolver's answer before it is graded. */
export type ResolverRow = Omit<Row, "authoritative_match" | "verdict" | "cause">;

/** Maximum number of records of one answer that are compared and shown, and of characters of each. */
const MOST_RECORDS = 60;
const MOST_TEXT = 1_024;

/** Types whose data is compared without regard to letter case (RFC 4343): they hold names, not texts. */
const CASELESS = new Set(["A", "AAAA", "CNAME", "NS", "MX", "PTR", "SOA", "SRV"]);

/** Turns an answer that was truncated and could not be fetched over TCP into no answer (RFC 2181 section 9). */
export function dropTruncated(answer: DnsAnswer): DnsAnswer {
  return answer.flags.tc ? { ...answer, status: "TIMEOUT", answers: [], unreachable: "truncated" } : answer;
}

/** Brings the answer of a resolver or a server into the form in which answers are compared. */
export function toComparable(
  name: string,
  type: string,
  { status, answers, authority }: Pick<DnsAnswer, "status" | "answers" | "authority">,
): ComparableAnswer {
  const chain = followCnames(name, type, answers);
  return {
    // For a client, an unreadable answer is a failure of the server.
    status: status === "MALFORMED" ? "SERVFAIL" : status,
    answers: comparableData(type, chain.records),
    cname_chain: chain.targets.slice(0, 12),
    ttl: chain.records.length > 0 || !isAnswer(status) ? smallestTtl(chain.records) : denialTtl(authority),
  };
}

/**
 * Returns for how many seconds a resolver keeps a negative answer in its cache: the remaining time of the SOA record
 * (RFC 2308 section 5). Null if there is no SOA.
 */
function denialTtl(authority: readonly DnsRecord[]): number | null {
  const soa = authority.find(({ type }) => type === "SOA");
  const minimum = soa?.typed["minimum"];
  return soa === undefined ? null : Math.min(soa.ttl, typeof minimum === "number" ? minimum : soa.ttl);
}

/** Returns record data in the form in which it is compared: sorted, names in lower case. */
export function comparableData(type: string, records: readonly Pick<DnsRecord, "data">[]): string[] {
  const texts = records
    .slice(0, MOST_RECORDS)
    .map(({ data }) => (CASELESS.has(type) ? data.toLowerCase() : data).slice(0, MOST_TEXT));
  return [...new Set(texts)].toSorted();
}

function smallestTtl(records: readonly { readonly ttl: number }[]): number | null {
  return records.length === 0 ? null : Math.min(...records.slice(0, MOST_RECORDS).map(({ ttl }) => ttl));
}

/** Answers that the domain's servers give to clients of each resolver's network (RFC 7871), keyed by resolver id. */
export type AnswersByNetwork = ReadonlyMap<string, ComparableAnswer>;

/**
 * Grades a resolver's answer by comparing it with the current answers of the domain's servers. An answer is stale if a
 * cache has held it for a while and the servers no longer give it. An answer that was just fetched, or that the servers
 * give to clients of the resolver's network, is not stale. An error code is an answer too: it counts as broken, because
 * no server of a working domain gives it.
 */
export function gradeRow(row: ResolverRow, authoritative: Authoritative | null, byNetwork: AnswersByNetwork): Row {
  const verdict = gradeAnswer(row, authoritative, byNetwork.get(row.id));
  return { ...row, authoritative_match: isMatch(verdict, authoritative), verdict, cause: failureCause(row) };
}

function isMatch(verdict: Row["verdict"], authoritative: Authoritative | null): boolean | null {
  if (verdict === "error" || verdict === "unknown") return null;
  if (verdict === "broken") return authoritative !== null && isAnswer(authoritative.status) ? false : null;
  return verdict !== "stale" && verdict !== "differs";
}

function gradeAnswer(
  row: ResolverRow,
  authoritative: Authoritative | null,
  local: ComparableAnswer | undefined,
): Row["verdict"] {
  if (!isAnswer(row.status)) return isFailure(row.status) ? "broken" : "error";
  if (authoritative === null || !isAnswer(authoritative.status)) return "unknown";
  const anyServer = authoritative.servers.filter((server) => isAnswer(server.status) && server.authoritative);
  if (anyServer.some((server) => isSame(row, server))) return "match";
  const all = new Set(anyServer.flatMap((server) => server.answers));
  if (row.answers.length > 0 && row.answers.every((answer) => all.has(answer))) return "subset";
  if (local !== undefined && isAnswer(local.status) && isSame(row, local)) return "geo";
  // A cache counts the TTL down, so an answer with its whole TTL was fetched a moment ago. A higher TTL belongs to an
  // older record with a longer TTL, e.g. before a change for which the TTL was lowered. The TTL of a negative answer is
  // a different value altogether.
  const isFresh = row.answers.length > 0 && row.ttl !== null && row.ttl === authoritative.ttl;
  return isFresh ? "differs" : "stale";
}

function isSame(
  one: Pick<ComparableAnswer, "status" | "answers">,
  other: Pick<ComparableAnswer, "status" | "answers">,
): boolean {
  return one.status === other.status && isEqual(one.answers, other.answers);
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** Groups equal answers and counts the resolvers that give each, the most common answer first. */
function distinctAnswers(rows: readonly Row[]): PropagationResult["distinct_answers"] {
  const groups = new Map<string, { answers: string[]; status: string; count: number; resolvers: string[] }>();
  for (const { id, status, answers } of rows) {
    if (status === "TIMEOUT") continue;
    const key = JSON.stringify([status, answers]);
    const group = groups.get(key) ?? { answers: [...answers], status, count: 0, resolvers: [] };
    group.count += 1;
    group.resolvers.push(id);
    groups.set(key, group);
  }
  return [...groups.values()].toSorted((one, other) => other.count - one.count);
}

/** Computes the figures and the verdict over all resolvers. */
export function summarisePropagation(
  rows: readonly Row[],
  authoritative: Authoritative | null,
): Pick<
  PropagationResult,
  "agreement_pct" | "consistent" | "verdict" | "distinct_answers" | "failures" | "expected_in_s"
> {
  const distinct = distinctAnswers(rows);
  const good = rows.filter(({ status }) => isAnswer(status));
  const broken = rows.filter(({ verdict }) => verdict === "broken");
  const stale = rows.filter(({ verdict }) => verdict === "stale").flatMap(({ ttl }) => ttl ?? []);
  const { current, known } = countCurrent(good, broken.length);
  const versions = distinctAnswers(good).length;
  return {
    agreement_pct: known === 0 ? null : Math.round((current / known) * 1000) / 10,
    consistent:
      good.length + broken.length === 0
        ? null
        : broken.length === 0 && (known === 0 ? versions === 1 : current === known),
    verdict: overallVerdict(rows, authoritative, { good: good.length, broken: broken.length, versions }),
    distinct_answers: distinct,
    failures: [...listFailures(rows)],
    expected_in_s: stale.length === 0 ? null : Math.max(...stale),
  };
}

/**
 * Counts the resolvers for which it is known whether their answer is current, and those whose answer is. The answer of
 * a broken resolver is never current.
 */
function countCurrent(good: readonly Row[], broken: number): { readonly current: number; readonly known: number } {
  const compared = good.filter((row) => row.authoritative_match !== null);
  const current = compared.filter((row) => row.authoritative_match === true).length;
  if (compared.length > 0 || broken === 0)
    return { current, known: compared.length === 0 ? 0 : compared.length + broken };
  // If there is nothing to compare with, the most common answer counts as the current one.
  return { current: distinctAnswers(good)[0]?.count ?? 0, known: good.length + broken };
}

function overallVerdict(
  rows: readonly Row[],
  authoritative: Authoritative | null,
  { good, broken, versions }: { readonly good: number; readonly broken: number; readonly versions: number },
): PropagationResult["verdict"] {
  const has = (verdict: Row["verdict"]): boolean => rows.some((row) => row.verdict === verdict);
  if (good === 0) return broken === 0 ? "unknown" : "broken";
  if (broken > 0) return "broken_at_some";
  if (isServerBehind(authoritative) || has("stale")) return "propagating";
  if (has("geo")) return "geo";
  if (has("differs")) return "inconsistent";
  if (has("unknown")) return versions === 1 ? "propagated" : "inconsistent";
  return "propagated";
}

/** Reports whether one of the domain's own servers still gives a different answer from another version of the zone. */
function isServerBehind(authoritative: Authoritative | null): boolean {
  const good = authoritative?.servers.filter((server) => isAnswer(server.status) && server.authoritative) ?? [];
  const [first] = good;
  return first !== undefined && good.some((server) => server.serial !== first.serial && !isSame(server, first));
}

/** Combines the answers of a zone's servers. `servers` are in the order of their names. */
export function joinServers(
  zone: string,
  name: string,
  servers: readonly Authoritative["servers"][number][],
): Authoritative {
  const good = servers.filter((server) => isAnswer(server.status) && server.authoritative);
  const [first] = good;
  const serials = servers.flatMap(({ ns, serial }) => (serial === null ? [] : [{ ns, serial }]));
  return {
    zone,
    name,
    ns: servers.map(({ ns }) => ns),
    answers: [...new Set(good.flatMap(({ answers }) => answers))].toSorted(),
    status: first?.status ?? servers[0]?.status ?? "TIMEOUT",
    ttl: good.reduce<number | null>((most, { ttl }) => (ttl === null ? most : Math.max(most ?? 0, ttl)), null),
    servers: [...servers],
    serials,
    consistent:
      good.length === servers.length &&
      good.every((server) => first !== undefined && isSame(server, first)) &&
      new Set(serials.map(({ serial }) => serial)).size <= 1,
  };
}
