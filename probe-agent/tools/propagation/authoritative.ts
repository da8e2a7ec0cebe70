import type { Outcome } from "#shared/contracts/outcome.ts";
import type { PropagationResult } from "#shared/tools/propagation/contract.ts";
import {
  toComparable,
  joinServers,
  dropTruncated,
  type ComparableAnswer,
} from "#probe-agent/tools/propagation/compare.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address, Resolved } from "#probe-agent/port/address.ts";
import type { DnsAnswer, DnsRecord } from "#probe-agent/port/dns.ts";

type Authoritative = NonNullable<PropagationResult["authoritative"]>;
type Server = Authoritative["servers"][number];

/**
 * Maximum number of servers of a zone that are asked, and of aliases followed into other zones, and the wait for each
 * answer.
 */
const MOST_SERVERS = 8;
const MOST_ZONES = 4;
const MOST_LABELS = 4;
const QUESTION_MS = 3_000;

/** Answers of the zone's servers. `askFor` asks the first of them for clients of another network. */
export interface AuthoritativeAnswer {
  readonly authoritative: Authoritative;
  /** Null if no server may be asked. */
  readonly askFor: ((clientIp: string) => Promise<ComparableAnswer>) | null;
}

/**
 * Finds the zone of the name, following aliases into other zones, and asks its servers. Returns null if none was found.
 */
export async function askAuthoritative(
  net: Net,
  given: { readonly name: string; readonly type: string; readonly port: number },
): Promise<AuthoritativeAnswer | null> {
  const { type, port } = given;
  let { name } = given;
  let found: AuthoritativeAnswer | null = null;
  for (let zones = 0; zones < MOST_ZONES; zones += 1) {
    const zone = await findZone(net, name);
    if (zone === null) return found;
    const asked = await askZone(net, { zone, name, type, port });
    if (asked === null) return found;
    found = asked.answer;
    if (asked.alias === null) return found;
    name = asked.alias;
  }
  return found;
}

/**
 * Finds the zone of a name: the owner of the SOA in a resolver's positive or negative answer (RFC 2308 section 3). If
 * the resolver follows an alias out of the zone instead, the next name above, which is not an alias, is asked about.
 * Checking is disabled, so that the servers of a zone with bad signatures are found too.
 */
async function findZone(net: Net, name: string): Promise<string | null> {
  let candidate = name.toLowerCase();
  for (let step = 0; step < MOST_LABELS; step += 1) {
    const { status, answers, authority } = await net.dns.query({
      name: candidate,
      type: "SOA",
      checkingDisabled: true,
      timeoutMs: QUESTION_MS,
    });
    if (status !== "NOERROR" && status !== "NXDOMAIN") return null;
    const holds = ({ name: owner, type }: DnsRecord): boolean =>
      type === "SOA" && (owner === "." || `.${candidate}`.endsWith(`.${owner.toLowerCase()}`));
    const soa = [...answers, ...authority].find(holds);
    if (soa !== undefined) return soa.name;
    const dot = candidate.indexOf(".");
    if (dot === -1) return null;
    candidate = candidate.slice(dot + 1);
  }
  return null;
}

interface ZoneQuestion {
  readonly zone: string;
  readonly name: string;
  readonly type: string;
  readonly port: number;
}

/** Asks the servers of a zone. `alias` is the target of the name if its zone has it as an alias to another zone. */
async function askZone(
  net: Net,
  question: ZoneQuestion,
): Promise<{ readonly answer: AuthoritativeAnswer; readonly alias: string | null } | null> {
  const known = await lookUpServers(net, question.zone);
  // Some resolvers do not return the apex of a zone with bad signatures, not even with checking disabled.
  const names = known.length > 0 ? known : await delegatedServers(net, question);
  if (names.length === 0) return null;
  const asked = await Promise.all(names.map((ns) => askServer(net, ns, question)));
  const authoritative = joinServers(
    question.zone,
    question.name,
    asked.map(({ server }) => server),
  );
  const good = asked.find(({ server }) => server.authoritative);
  const address = good?.address ?? null;
  const askFor =
    address === null
      ? null
      : async (clientIp: string) =>
          toComparable(question.name, question.type, await ask(net, address, question, clientIp));
  const alias = authoritative.answers.length === 0 ? (good?.alias ?? null) : null;
  return { answer: { authoritative, askFor }, alias };
}

async function lookUpServers(net: Net, zone: string): Promise<readonly string[]> {
  const question = { name: zone, type: "NS", checkingDisabled: true, timeoutMs: QUESTION_MS };
  return serverNames((await net.dns.query(question)).answers);
}

/** Returns the names of the servers to which the parent zone delegates a zone. */
async function delegatedServers(net: Net, { zone, port }: ZoneQuestion): Promise<readonly string[]> {
  const parent = await findZone(net, zone.slice(zone.indexOf(".") + 1));
  const [ns] = parent === null ? [] : await lookUpServers(net, parent);
  const resolved = ns === undefined ? null : await net.dns.resolve(ns);
  const [first] = resolved?.status === "ok" ? resolved.data.allowed : [];
  if (first === undefined) return [];
  const { answers, authority } = await ask(net, serverAddress(first, port), { name: zone, type: "NS" });
  return serverNames([...answers, ...authority].filter(({ name }) => name.toLowerCase() === zone.toLowerCase()));
}

function serverNames(records: readonly DnsRecord[]): readonly string[] {
  return records
    .map(({ typed }) => typed["nsdname"])
    .filter((ns) => typeof ns === "string")
    .toSorted()
    .slice(0, MOST_SERVERS);
}

function serverAddress({ ip, version }: Address, port: number): string {
  return `${version === 6 ? `[${ip}]` : ip}:${port}`;
}

interface AskedServer {
  readonly server: Server;
  /** Null if it has no address that may be asked. */
  readonly address: string | null;
  /** The last alias that it names. Null if it names none. */
  readonly alias: string | null;
}

/** Asks one server about the name and its zone's serial, at its first address that may be asked. */
async function askServer(net: Net, ns: string, question: ZoneQuestion): Promise<AskedServer> {
  const resolved = await resolveServer(net, ns);
  const [first] = resolved.status === "ok" ? resolved.data.allowed : [];
  if (first === undefined) {
    const error = resolved.status === "failed" ? resolved.reason : "target_not_allowed";
    return { server: silentServer(ns, error), address: null, alias: null };
  }
  const address = serverAddress(first, question.port);
  const soa = { ...question, name: question.zone, type: "SOA" };
  const [answer, zone] = await Promise.all([ask(net, address, question), ask(net, address, soa)]);
  const serial: unknown = zone.answers.find((record) => record.type === "SOA")?.typed["serial"];
  const comparable = toComparable(question.name, question.type, answer);
  const server: Server = {
    ns,
    ip: first.ip,
    status: comparable.status,
    answers: [...comparable.answers],
    // The TTL of a negative answer matters only to caches.
    ttl: comparable.answers.length === 0 ? null : comparable.ttl,
    serial: typeof serial === "number" ? serial : null,
    authoritative: answer.flags.aa,
    rtt_ms: answer.rttMs === null ? null : toMicroseconds(answer.rttMs),
    error: answer.status === "TIMEOUT" ? (answer.unreachable ?? "timeout") : answer.flags.aa ? null : "lame",
  };
  return { server, address, alias: comparable.cname_chain.at(-1) ?? null };
}

/**
 * Resolves a server's name like `resolve`. If the name is in the zone with the bad signatures, it is looked up without
 * validation.
 */
async function resolveServer(net: Net, ns: string): Promise<Outcome<Resolved>> {
  const resolved = await net.dns.resolve(ns);
  if (resolved.status !== "failed" || resolved.reason !== "servfail") return resolved;
  const { answers } = await net.dns.query({ name: ns, type: "A", checkingDisabled: true, timeoutMs: QUESTION_MS });
  const address = answers.find(({ type }) => type === "A")?.typed["address"];
  // An address is vetted like a name.
  return typeof address === "string" ? await net.dns.resolve(address) : resolved;
}

async function ask(
  net: Net,
  server: string,
  { name, type }: Pick<ZoneQuestion, "name" | "type">,
  clientIp?: string,
): Promise<DnsAnswer> {
  const answer = await net.dns.query({
    name,
    type,
    server,
    recursionDesired: false,
    timeoutMs: QUESTION_MS,
    ...(clientIp === undefined ? {} : { clientSubnet: clientIp }),
  });
  return dropTruncated(answer);
}

function silentServer(ns: string, error: string): Server {
  const nothing = { ip: null, answers: [], ttl: null, serial: null, rtt_ms: null };
  return { ns, ...nothing, status: "TIMEOUT", authoritative: false, error };
}
