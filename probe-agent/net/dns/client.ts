import { askServer, type AskDeps, type ServerReply } from "#probe-agent/net/dns/ask.ts";
import { CLASS_IN, rcodeName, typeCode } from "#shared/internet/dns-registry.ts";
import { equalNames, nameToText, textToName, type NameOctets } from "#probe-agent/dns-codec/names.ts";
import { formatServer, parseServer, type ServerAddress } from "#probe-agent/net/dns/server-address.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { DnsAnswer, DnsQuestion, DnsRecord } from "#probe-agent/port/dns.ts";

const DEFAULT_TIMEOUT_MS = 3_000;
// RFC 1035, RFC 7858 section 3.1, RFC 8484.
const DEFAULT_PORT = { udp: 53, tcp: 53, dot: 853, doh: 443 } as const;
const DOH_PATH = "/dns-query";
// Wait before a lost query is sent again, by round.
const PATIENCE_MS = [1_000, 1_500];
const ROUNDS = 3;

/** Options of a client. It calls `servers` once per question. */
interface ClientDeps extends AskDeps {
  servers(): Promise<readonly ServerAddress[]>;
}

/** Sends one question; `signal` ends it early, as the job's signal does. */
export type Query = (question: DnsQuestion, signal?: AbortSignal) => Promise<DnsAnswer>;

/**
 * Creates the DNS client of one job. In addition to RCODEs, `status` can be TIMEOUT (no server answered), MALFORMED
 * (the answer is not a DNS message, not even over TCP) or INVALID_NAME (the name cannot be encoded, so nothing was
 * sent).
 */
export function createQuery(deps: ClientDeps, job: JobLimits): Query {
  return async (question, signal) => {
    const name = textToName(question.name);
    const type = typeCode(question.type);
    if (type === null) throw new TypeError(`${question.type} is not a record type`);
    if (question.server === undefined && (question.transport === "dot" || question.transport === "doh")) {
      throw new TypeError(`${question.transport} needs a server: the configured servers support only UDP and TCP`);
    }
    const servers = question.server === undefined ? await deps.servers() : [givenServer(question)];
    const first = servers[0];
    if (name === null || first === undefined) return unanswered(question, "INVALID_NAME", "");

    const left = Math.min(question.timeoutMs ?? DEFAULT_TIMEOUT_MS, job.deadline - deps.clock.monotonic());
    const until = deps.clock.monotonic() + left;
    const flags = {
      recursionDesired: question.recursionDesired ?? true,
      checkingDisabled: question.checkingDisabled ?? false,
      dnssecOk: question.dnssecOk ?? false,
      ...(question.clientSubnet === undefined ? {} : { clientSubnet: question.clientSubnet }),
    };
    let last = first;
    let unreachable: string | null = null;
    const noteUnreachable = (word: string): void => {
      unreachable = word;
    };
    const answer = await tryInTurn<ServerAddress, DnsAnswer>({
      candidates: servers,
      rounds: ROUNDS,
      patienceMs: (round) => PATIENCE_MS[round] ?? 1_500,
      totalMs: left,
      signal: signal === undefined ? job.signal : AbortSignal.any([job.signal, signal]),
      async attempt(server, round, ended) {
        last = server;
        // Middleboxes drop queries that they do not understand, so later rounds send the plainest form.
        const shape = {
          transport: question.transport ?? "udp",
          edns: round < 2 || flags.dnssecOk,
          mixedCase: round < 1,
        };
        const asked = { name, type, class: CLASS_IN };
        const encrypted = { ...server, name: question.serverName ?? null, path: question.path ?? DOH_PATH };
        const said = await askServer(deps, {
          server: encrypted,
          question: asked,
          flags,
          shape,
          until,
          signal: ended,
          unreachable: noteUnreachable,
        });
        return said === null ? null : gradeAnswer(said, question, name, server);
      },
    });
    return answer ?? { ...unanswered(question, "TIMEOUT", formatServer(last)), unreachable };
  };
}

function givenServer({ server: text = "", transport = "udp" }: DnsQuestion): ServerAddress {
  const server = parseServer(text, DEFAULT_PORT[transport]);
  if (server === null) throw new TypeError("a DNS server must be address, address:port or [v6]:port");
  return server;
}

/**
 * Decides whether an answer is final. Another server may give a better answer than one that refuses, does not
 * understand the query, or sends nonsense. The same applies to SERVFAIL, as in stub resolvers, but not if DNSSEC was
 * requested: then SERVFAIL may be the verdict on bogus data.
 */
function gradeAnswer(
  said: ServerReply,
  question: DnsQuestion,
  name: NameOctets,
  server: ServerAddress,
): Tried<DnsAnswer> {
  const value = toAnswer(said, question, name, formatServer(server));
  const final =
    value.status === "NOERROR" ||
    value.status === "NXDOMAIN" ||
    // A DNAME makes a name that is too long (RFC 6672 section 2.2). Every server reports the same.
    value.status === "YXDOMAIN" ||
    (value.status === "SERVFAIL" && question.dnssecOk === true);
  return { final, value };
}

function toAnswer(said: ServerReply, question: DnsQuestion, name: NameOctets, server: string): DnsAnswer {
  const { message, transport, rttMs, connectMs } = said;
  if (message === null) return { ...unanswered(question, "MALFORMED", server), transport, rttMs, connectMs };
  const spelling = nameToText(name);
  // Servers that repeat the question's name instead of compressing it return our random case.
  const respelled = (record: DnsRecord): DnsRecord => {
    const owner = textToName(record.name);
    return owner !== null && equalNames(owner, name) ? { ...record, name: spelling } : record;
  };
  return {
    status: rcodeName(message.rcode),
    flags: message.flags,
    answers: message.answers.map(respelled),
    authority: message.authority.map(respelled),
    additional: message.additional.map(respelled),
    ede: message.edns?.ede ?? [],
    nsid: message.edns?.nsid ?? null,
    server,
    transport,
    rttMs,
    connectMs,
  };
}

function unanswered(question: DnsQuestion, status: string, server: string): DnsAnswer {
  return {
    status,
    flags: {
      aa: false,
      tc: false,
      rd: question.recursionDesired ?? true,
      ra: false,
      ad: false,
      cd: question.checkingDisabled ?? false,
    },
    answers: [],
    authority: [],
    additional: [],
    ede: [],
    nsid: null,
    server,
    transport: question.transport ?? "udp",
    rttMs: null,
    connectMs: null,
  };
}

/** Outcome of one try: the final result, a fallback, or nothing. */
type Tried<T> = { readonly final: boolean; readonly value: T } | null;

/** Order and timing of tries over several candidates. */
interface InTurn<C, T> {
  readonly candidates: readonly C[];
  /** Maximum number of tries per candidate. */
  readonly rounds: number;
  /** Milliseconds to wait for a try before the next one starts in parallel. Rounds count from 0. */
  patienceMs(round: number): number;
  readonly totalMs: number;
  readonly signal: AbortSignal;
  /** Settles immediately when `signal` aborts, with the best outcome so far. */
  attempt(candidate: C, round: number, signal: AbortSignal): Promise<Tried<T>>;
}

/**
 * Tries candidates one after the other. The next one starts when the last one failed or is slow. Slow tries continue,
 * so a late answer still counts. A candidate whose try has ended is not tried again. Resolves to the first final value,
 * otherwise the first fallback, otherwise null, after at most `totalMs` or when `signal` aborts.
 */
function tryInTurn<C, T>(plan: InTurn<C, T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const rounds = Array.from({ length: plan.rounds }, (_, round) => round);
    const turns = rounds.flatMap((round) => plan.candidates.map((candidate, index) => ({ candidate, index, round })));
    const spent = new Set<number>();
    const end = new AbortController();
    let kept: { readonly value: T } | null = null;
    let running = 0;
    let next: NodeJS.Timeout | undefined;

    const stop = (): void => {
      clearTimeout(total);
      clearTimeout(next);
      plan.signal.removeEventListener("abort", giveUp);
      end.abort();
    };
    const giveUp = (): void => {
      stop();
      if (running === 0) resolve(kept?.value ?? null);
    };
    const settle = (index: number, tried: Tried<T>): void => {
      running -= 1;
      spent.add(index);
      kept ??= tried;
      if (tried?.final === true) {
        stop();
        resolve(tried.value);
      } else if (end.signal.aborted) giveUp();
      else startNext();
    };
    const startNext = (): void => {
      clearTimeout(next);
      const turn = turns.shift();
      if (turn === undefined) return running === 0 ? giveUp() : undefined;
      if (spent.has(turn.index)) return startNext();
      running += 1;
      next = setTimeout(startNext, plan.patienceMs(turn.round));
      plan.attempt(turn.candidate, turn.round, end.signal).then(
        (tried) => settle(turn.index, tried),
        (error: unknown) => {
          stop();
          reject(error);
        },
      );
      return undefined;
    };
    const total = setTimeout(giveUp, Math.max(0, plan.totalMs));
    plan.signal.addEventListener("abort", giveUp, { once: true });
    if (plan.signal.aborted) giveUp();
    else startNext();
  });
}
