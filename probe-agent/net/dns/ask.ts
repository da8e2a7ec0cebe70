import type { Clock, Random } from "#shared/clock.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { unreachableWord, type Exchange, type ExchangeRequest } from "#probe-agent/net/dns/exchange.ts";
import { decodeMessage, type Message, type WireQuestion } from "#probe-agent/dns-codec/message.ts";
import {
  buildQuery,
  matchReply,
  restoreCase,
  type Match,
  type QueryFlags,
  type Shape,
  type Transport,
} from "#probe-agent/dns-codec/question.ts";
import { exchangeDoh } from "#probe-agent/net/dns/doh.ts";
import { exchangeDot } from "#probe-agent/net/dns/dot.ts";
import type { EncryptedServer } from "#probe-agent/net/dns/encrypted.ts";
import { exchangeTcp } from "#probe-agent/net/dns/tcp.ts";
import { exchangeUdp } from "#probe-agent/net/dns/udp.ts";

const FORMERR = 1;
const NOTIMP = 4;
const BADVERS = 16;
// UDP, then without mixed case, without EDNS, and over TCP (where EDNS may fail once more).
const MAX_STEPS = 6;

/** What one server said in the end; `message` is null where it answered with octets that are no message. */
export interface Said {
  readonly message: Message | null;
  readonly transport: Transport;
  readonly rttMs: number;
  /** The part of it until the connection stood; 0 over UDP. */
  readonly connectMs: number;
}

/** What asking needs of the process. */
export interface AskDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** PEM roots for encrypted transports, in place of Node's. */
  readonly roots?: readonly string[];
}

/** One server to ask, and within what bounds. */
export interface AskRequest {
  readonly server: EncryptedServer;
  readonly question: WireQuestion;
  readonly flags: QueryFlags;
  /** How the first query looks. */
  readonly shape: Shape;
  /** Monotonic milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
  /** Told of each try that found no way to the server, in a word. */
  unreachable(word: string): void;
}

/**
 * Asks one server until it has said all it can: over TCP after a cut (TC) or unreadable answer, without EDNS or mixed
 * case where it does not bear them. Null when nothing came. What a failing retry would lose is kept.
 */
export async function askServer(deps: AskDeps, request: AskRequest): Promise<Said | null> {
  let said: Said | null = null;
  let shape: Shape | null = request.shape;
  for (let step = 0; shape !== null && step < MAX_STEPS; step += 1) {
    const { reply, match } = await sendOnce(deps, request, shape);
    if (reply.kind !== "reply") return said;
    const message = match === "wrong_case" ? null : read(reply.bytes, request.question);
    if (match !== "wrong_case")
      said = { message, transport: shape.transport, rttMs: reply.rttMs, connectMs: reply.connectMs };
    shape = nextShape(shape, match, message);
  }
  return said;
}

const EXCHANGES = { udp: exchangeUdp, tcp: exchangeTcp, dot: exchangeDot, doh: exchangeDoh } as const;

async function sendOnce(deps: AskDeps, request: AskRequest, shape: Shape): Promise<{ reply: Exchange; match: Match }> {
  const query = buildQuery(request.question, request.flags, shape, deps.random);
  let match: Match = "foreign";
  const exchange: ExchangeRequest = {
    query: query.bytes,
    accept(bytes) {
      match = matchReply(query, bytes);
      return match !== "foreign";
    },
    timeoutMs: Math.max(0, request.until - deps.clock.monotonic()),
    signal: request.signal,
    clock: deps.clock,
  };
  const reply = await EXCHANGES[shape.transport](request.server, exchange, deps.roots);
  if (reply.kind === "unreachable") request.unreachable(unreachableWord(reply.reason));
  return { reply, match };
}

function read(bytes: Uint8Array, question: WireQuestion): Message | null {
  restoreCase(bytes, question.name);
  try {
    return decodeMessage(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  }
}

/** How to ask the same server again, null where its answer stands. */
export function nextShape(shape: Shape, match: Match, message: Message | null): Shape | null {
  // A forger who hit id and port but not the case gains nothing: the next query has new ones.
  if (match === "wrong_case") return { ...shape, mixedCase: false };
  if (message === null) return shape.transport === "udp" ? { ...shape, transport: "tcp" } : null;
  const misunderstood = message.edns === null && (message.rcode === FORMERR || message.rcode === NOTIMP);
  if (shape.edns && (misunderstood || message.rcode === BADVERS)) return { ...shape, edns: false };
  if (message.flags.tc && shape.transport === "udp") return { ...shape, transport: "tcp" };
  return null;
}
