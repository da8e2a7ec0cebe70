import { isIP } from "node:net";
import { domainToUnicode } from "node:url";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import { propagation as contract } from "#shared/tools/propagation/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import {
  gradeRow,
  summarisePropagation,
  type AnswersByNetwork,
  type ComparableAnswer,
  type ResolverRow,
  comparableData,
  toComparable,
  dropTruncated,
} from "#probe-agent/tools/propagation/compare.ts";
import { implement, type Implementation, type JobInput } from "#probe-agent/tools/implement.ts";
import { askAuthoritative, type AuthoritativeAnswer } from "#probe-agent/tools/propagation/authoritative.ts";
import { propagationFindings } from "#probe-agent/tools/propagation/findings.ts";
import { Value } from "typebox/value";
import { splitHostPort } from "#shared/internet/host-port.ts";
import type { ResolverEntry } from "#shared/settings/resolvers.ts";
import { PROPAGATION_INPUT, type Vantage } from "#shared/tools/propagation/vantages.ts";
import { extendedErrorName } from "#probe-agent/analysis/dns/extended-errors.ts";
import { isAnswer } from "#probe-agent/analysis/dns/propagation-failures.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsAnswer, DnsQuestion } from "#probe-agent/port/dns.ts";

/** Maximum number of networks for which the domain's servers are asked again. */
const MOST_NETWORKS = 12;
const RESERVE_MS = 500;
/** Time limit of the second round of questions in milliseconds. The first round has ended by then. */
const NETWORKS_MS = 4_000;

/** Creates the propagation tool. `port` is the port of the domain's own servers. */
export function propagationOn(
  port: number,
): Implementation<typeof contract.params.properties, typeof contract.result.properties> {
  return implement(contract, async (net, { domain, type }, input = {}) => {
    const observedAt = net.now().toISOString();
    const patience = net.remainingMs() - NETWORKS_MS - RESERVE_MS;
    const [rows, own] = await Promise.all([
      askResolvers(net, domain, type),
      waitAtMost(patience, askAuthoritative(net, { name: domain, type, port }), null),
    ]);
    const ungraded = [...rows, ...readVantages(input, type)];
    if (own === null && ungraded.every(({ status }) => status === "TIMEOUT")) {
      return failed("dns", "resolver", "no_answer", "no resolver and no server of the domain answered");
    }
    const authoritative = own?.authoritative ?? null;
    const byNetwork = await waitAtMost(NETWORKS_MS, askNetworks(own, ungraded), new Map<string, ComparableAnswer>());
    const graded = ungraded.map((row) => gradeRow(row, authoritative, byNetwork));
    const summary = summarisePropagation(graded, authoritative);
    return ok({
      domain: domainToUnicode(domain) || domain,
      ascii: domain,
      type,
      resolvers: graded,
      authoritative,
      ...summary,
      findings: propagationFindings({ ...summary, authoritative, resolvers: graded }),
      source: ["dns"],
      observed_at: observedAt,
      limitations: [
        ...(authoritative === null
          ? ["The domain's own servers could not be asked, so the answers are compared only with each other."]
          : []),
        ...(ungraded.some(({ kind }) => kind === "agent") ? [] : ["No other probe was asked."]),
      ],
    });
  });
}

/** DNS propagation on the usual port. */
export const propagation = propagationOn(53);

/** Asks the domain's servers for clients in the networks of those resolvers whose answers differ. */
async function askNetworks(own: AuthoritativeAnswer | null, rows: readonly ResolverRow[]): Promise<AnswersByNetwork> {
  const askFor = own?.askFor ?? null;
  if (own === null || askFor === null) return new Map();
  const differing = rows
    .filter((row) => gradeRow(row, own.authoritative, new Map()).authoritative_match === false)
    .flatMap(({ id, server }) => {
      const ip = server?.replace(/#\d+$/, "") ?? "";
      return isIP(ip) === 0 ? [] : [{ id, ip }];
    })
    .slice(0, MOST_NETWORKS);
  return new Map(await Promise.all(differing.map(async ({ id, ip }) => [id, await askFor(ip)] as const)));
}

const QUESTION_MS = 4_000;
/** Maximum number of resolvers asked at the same time. */
const AT_ONCE = 40;

/** Asks the listed resolvers and this probe's own. Each row is emitted when its answer arrives. */
async function askResolvers(net: Net, name: string, type: string): Promise<ResolverRow[]> {
  const own: Asking = {
    base: { id: "own", name: "This probe's resolver", location: "here", kind: "own" },
    how: () => Promise.resolve(ok({})),
  };
  const listed = net.data.resolvers.map(
    (entry): Asking => ({
      base: { id: entry.id, name: entry.name, location: entry.location, kind: "public" },
      how: () => findWay(net, entry),
    }),
  );
  const waiting = [...listed, own].entries();
  const rows: ResolverRow[] = [];
  const lane = async (): Promise<void> => {
    for (const [index, asking] of waiting) {
      const row = await askOne(net, name, type, asking);
      net.emit({ kind: "resolver", data: row });
      rows[index] = row;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return rows;
}

/** Reads the answers of other probes' resolvers, which the control plane has collected. */
function readVantages(input: JobInput, type: string): ResolverRow[] {
  if (!Value.Check(PROPAGATION_INPUT, input)) return [];
  const seen = new Map<string, number>();
  return input.vantages.map((vantage) => {
    const nth = (seen.get(vantage.region) ?? 0) + 1;
    seen.set(vantage.region, nth);
    return vantageRow(vantage, type, nth);
  });
}

type Way = Pick<DnsQuestion, "server" | "transport" | "serverName" | "path">;

interface Asking {
  readonly base: Pick<ResolverRow, "id" | "name" | "location" | "kind">;
  readonly how: () => Promise<Outcome<Way>>;
}

/**
 * Finds how to reach a listed resolver. The operator's list is used unchanged; the name of a DoH service is looked up
 * and vetted like any other name.
 */
async function findWay(net: Net, { address, transport }: ResolverEntry): Promise<Outcome<Way>> {
  if (transport !== "doh") {
    const host = splitHostPort(address)?.host;
    return ok({
      server: address,
      transport,
      ...(transport === "dot" && host !== undefined ? { serverName: host } : {}),
    });
  }
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const [first] = resolved.data.allowed;
  const ip = first?.ip ?? "";
  const server = `${ip.includes(":") ? `[${ip}]` : ip}${url.port === "" ? "" : `:${url.port}`}`;
  return ok({ server, transport, serverName: host, path: url.pathname });
}

async function askOne(net: Net, name: string, type: string, { base, how }: Asking): Promise<ResolverRow> {
  const way = await how();
  if (way.status !== "ok") return unreached(base, way.status === "failed" ? way.reason : "target_not_allowed");
  const question: DnsQuestion = { ...way.data, name, type, timeoutMs: QUESTION_MS };
  const answer = dropTruncated(await net.dns.query(question));
  const comparable = toComparable(name, type, answer);
  return {
    ...base,
    ...wayOf(answer),
    ...comparable,
    answers: [...comparable.answers],
    cname_chain: [...comparable.cname_chain],
    ede: errorsOf(answer.ede),
    recheck: answer.status === "SERVFAIL" ? await recheck(net, question) : null,
    error: errorOf(answer),
  };
}

/** Asks a resolver that answered SERVFAIL again, with and without validation. */
async function recheck(net: Net, question: DnsQuestion): Promise<ResolverRow["recheck"]> {
  const [again, unchecked] = await Promise.all([
    net.dns.query(question),
    net.dns.query({ ...question, checkingDisabled: true }),
  ]);
  return { status: again.status, unchecked_status: unchecked.status };
}

const MOST_ERRORS = 5;
const MOST_ERROR_TEXT = 200;

function errorsOf(errors: DnsAnswer["ede"]): ResolverRow["ede"] {
  return errors
    .slice(0, MOST_ERRORS)
    .map(({ code, text }) => ({ code, name: extendedErrorName(code), text: printable(text, MOST_ERROR_TEXT) }));
}

function wayOf({ server, transport, rttMs }: DnsAnswer): Pick<ResolverRow, "server" | "transport" | "rtt_ms"> {
  return { server, transport, rtt_ms: rttMs === null ? null : toMicroseconds(rttMs) };
}

function errorOf({ status, unreachable }: DnsAnswer): string | null {
  if (isAnswer(status)) return null;
  return status === "TIMEOUT" ? (unreachable ?? "timeout") : status.toLowerCase();
}

function unreached(base: Asking["base"], error: string): ResolverRow {
  const nothing = { server: null, transport: null, answers: [], cname_chain: [], ttl: null, rtt_ms: null };
  return { ...base, ...nothing, status: "TIMEOUT", ede: [], recheck: null, error };
}

function vantageRow(
  { region, country, city, server, status, records, rtt_ms, ede = [] }: Vantage,
  type: string,
  nth: number,
): ResolverRow {
  const wanted = records.filter((record) => record.type === type);
  return {
    id: `agent-${region}${nth === 1 ? "" : `-${nth}`}`,
    name: `Probe in ${region}`,
    location: [city, country].filter((part) => part !== null).join(", ") || region,
    kind: "agent",
    server,
    transport: null,
    status,
    ede: errorsOf(ede),
    recheck: null,
    answers: comparableData(type, wanted),
    cname_chain: [],
    ttl: wanted.length === 0 ? null : Math.min(...wanted.map(({ ttl }) => ttl)),
    rtt_ms,
    error: isAnswer(status) ? null : status.toLowerCase(),
  };
}
