import type { PropagationResult } from "#shared/tools/propagation.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { failureCause, isAnswer, isFailure, listFailures } from "#probe-agent/analysis/dns/propagation-failures.ts";
import type { DnsAnswer, DnsRecord } from "#probe-agent/port/dns.ts";

type Row = PropagationResult["resolvers"][number];
type Authoritative = NonNullable<PropagationResult["authoritative"]>;

/** An answer as answers are compared. */
export interface Heard {
  readonly status: string;
  readonly answers: readonly string[];
  readonly cname_chain: readonly string[];
  readonly ttl: number | null;
}

/** A resolver's answer before it is judged. */
export type HeardRow = Omit<Row, "authoritative_match" | "verdict" | "cause">;

/** Records of one answer that are compared and shown, and characters of each. */
const MOST_RECORDS = 60;
const MOST_TEXT = 1_024;

/** Data without regard to letter case (RFC 4343): names, not texts. */
const CASELESS = new Set(["A", "AAAA", "CNAME", "NS", "MX", "PTR", "SOA", "SRV"]);

/** An answer that was cut and could not be had whole over TCP is none (RFC 2181 section 9). */
export function wholeAnswer(answer: DnsAnswer): DnsAnswer {
  return answer.flags.tc ? { ...answer, status: "TIMEOUT", answers: [], unreachable: "truncated" } : answer;
}

/** Reads what a resolver, or a server, said to a question. */
export function heardOf(
  name: string,
  type: string,
  { status, answers, authority }: Pick<DnsAnswer, "status" | "answers" | "authority">,
): Heard {
  const chain = followCnames(name, type, answers);
  return {
    // To its client an unreadable answer is a failure of the server.
    status: status === "MALFORMED" ? "SERVFAIL" : status,
    answers: comparable(type, chain.records),
    cname_chain: chain.targets.slice(0, 12),
    ttl: chain.records.length > 0 || !isAnswer(status) ? smallestTtl(chain.records) : denialTtl(authority),
  };
}

/** How long a resolver goes on saying that there is none: what is left of the SOA's time (RFC 2308 section 5). */
function denialTtl(authority: readonly DnsRecord[]): number | null {
  const soa = authority.find(({ type }) => type === "SOA");
  const minimum = soa?.typed["minimum"];
  return soa === undefined ? null : Math.min(soa.ttl, typeof minimum === "number" ? minimum : soa.ttl);
}

/** Record data in the form that is compared: sorted, names in lower case. */
export function comparable(type: string, records: readonly Pick<DnsRecord, "data">[]): string[] {
  const texts = records
    .slice(0, MOST_RECORDS)
    .map(({ data }) => (CASELESS.has(type) ? data.toLowerCase() : data).slice(0, MOST_TEXT));
  return [...new Set(texts)].toSorted();
}

function smallestTtl(records: readonly { readonly ttl: number }[]): number | null {
  return records.length === 0 ? null : Math.min(...records.slice(0, MOST_RECORDS).map(({ ttl }) => ttl));
}

/** What the servers say to clients of each resolver's network (RFC 7871), by the resolver's id. */
export type ByNetwork = ReadonlyMap<string, Heard>;

/**
 * Judges each resolver's answer by what the domain's servers say now. An answer that a cache has held for a while and
 * that the servers no longer give is stale; one just fetched, or one they give to clients of its network, is not. An
 * error code is an answer too: a broken one, which no server of a working domain gives.
 */
export function judgeRow(row: HeardRow, authoritative: Authoritative | null, byNetwork: ByNetwork): Row {
  const verdict = verdictOf(row, authoritative, byNetwork.get(row.id));
  return { ...row, authoritative_match: isMatch(verdict, authoritative), verdict, cause: failureCause(row) };
}

function isMatch(verdict: Row["verdict"], authoritative: Authoritative | null): boolean | null {
  if (verdict === "error" || verdict === "unknown") return null;
  if (verdict === "broken") return authoritative !== null && isAnswer(authoritative.status) ? false : null;
  return verdict !== "stale" && verdict !== "differs";
}

function verdictOf(row: HeardRow, authoritative: Authoritative | null, local: Heard | undefined): Row["verdict"] {
  if (!isAnswer(row.status)) return isFailure(row.status) ? "broken" : "error";
  if (authoritative === null || !isAnswer(authoritative.status)) return "unknown";
  const anyServer = authoritative.servers.filter((server) => isAnswer(server.status) && server.authoritative);
  if (anyServer.some((server) => isSame(row, server))) return "match";
  const all = new Set(anyServer.flatMap((server) => server.answers));
  if (row.answers.length > 0 && row.answers.every((answer) => all.has(answer))) return "subset";
  if (local !== undefined && isAnswer(local.status) && isSame(row, local)) return "geo";
  // A cache counts down; what still has its whole time was fetched a moment ago. More than that is of an older record
  // with a longer time, as before a change for which it was lowered; a denial's time is another one altogether.
  const isFresh = row.answers.length > 0 && row.ttl !== null && row.ttl === authoritative.ttl;
  return isFresh ? "differs" : "stale";
}

function isSame(one: Pick<Heard, "status" | "answers">, other: Pick<Heard, "status" | "answers">): boolean {
  return one.status === other.status && isEqual(one.answers, other.answers);
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** Different answers with how many give each, the most common first. */
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

/** The figures and the verdict over all resolvers. */
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
    verdict: overall(rows, authoritative, { good: good.length, broken: broken.length, versions }),
    distinct_answers: distinct,
    failures: [...listFailures(rows)],
    expected_in_s: stale.length === 0 ? null : Math.max(...stale),
  };
}

/** Of how many resolvers it is known whether their answer is current, and how many's is. A broken one's never is. */
function countCurrent(good: readonly Row[], broken: number): { readonly current: number; readonly known: number } {
  const compared = good.filter((row) => row.authoritative_match !== null);
  const current = compared.filter((row) => row.authoritative_match === true).length;
  if (compared.length > 0 || broken === 0)
    return { current, known: compared.length === 0 ? 0 : compared.length + broken };
  // With nothing to compare with, the answer of most resolvers counts as the current one.
  return { current: distinctAnswers(good)[0]?.count ?? 0, known: good.length + broken };
}

function overall(
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

/** Whether one of the domain's own servers still gives another answer, of another version of the zone. */
function isServerBehind(authoritative: Authoritative | null): boolean {
  const good = authoritative?.servers.filter((server) => isAnswer(server.status) && server.authoritative) ?? [];
  const [first] = good;
  return first !== undefined && good.some((server) => server.serial !== first.serial && !isSame(server, first));
}

/** What the servers of a zone say, put together; `servers` in the order of their names. */
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
