import type { Clock, Random } from "#shared/time/clock.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import {
  unreachableReason,
  type Exchange,
  type ExchangeRequest,
  awaitExchange,
  errorReason,
} from "#probe-agent/net/dns/exchange.ts";
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
import { type EncryptedServer, dialEncrypted } from "#probe-agent/net/dns/encrypted.ts";
import { createSocket } from "node:dgram";
import { isIPv6, connect } from "node:net";
import type { ServerAddress } from "#probe-agent/net/dns/server-address.ts";
import type { Duplex } from "node:stream";

// A server that sends this many other messages will not answer.
const MAX_FOREIGN_FRAMES = 16;
// Forged datagrams can overtake the answer, so many more of them are read.
const MAX_FOREIGN_DATAGRAMS = 1_024;

/** Sends one query over its own TCP connection (RFC 7766). rttMs is the time from connecting to the complete answer. */
function exchangeTcp(server: ServerAddress, request: ExchangeRequest): Promise<Exchange> {
  if (request.signal.aborted) return Promise.resolve({ kind: "silence" });
  return exchangeStream(connect({ host: server.ip, port: server.port, noDelay: true }), request);
}

/**
 * Sends one query over any stream that queues writes until it is open, such as a TLS socket. Destroys the stream at the
 * end.
 */
export function exchangeStream(stream: Duplex, request: ExchangeRequest): Promise<Exchange> {
  const { clock, query } = request;
  const startedAt = clock.monotonic();
  let foreign = 0;
  let connectMs = 0;
  const connected = (): void => {
    connectMs = clock.monotonic() - startedAt;
  };
  stream.once("connect", connected).once("secureConnect", connected);
  const { result, finish } = awaitExchange(request, () => stream.destroy());
  const readFrames = createFrameReader((bytes) => {
    if (stream.destroyed) return;
    if (request.accept(bytes)) finish({ kind: "reply", bytes, rttMs: clock.monotonic() - startedAt, connectMs });
    else if (++foreign > MAX_FOREIGN_FRAMES) finish({ kind: "unreachable", reason: "no_answer_among_frames" });
  });
  stream.on("error", (error: Error) => finish({ kind: "unreachable", reason: errorReason(error) }));
  stream.on("close", () => finish({ kind: "unreachable", reason: "closed" }));
  stream.on("data", readFrames);
  stream.write(Buffer.concat([Buffer.of(query.length >>> 8, query.length & 0xff), query]));
  return result;
}

/**
 * Creates a reader that splits a byte stream into messages with 16-bit lengths. Copies each octet once, regardless of
 * the chunks.
 */
export function createFrameReader(onFrame: (bytes: Uint8Array) => void): (chunk: Uint8Array) => void {
  let target = new Uint8Array(2);
  let filled = 0;
  let inLength = true;
  return (chunk) => {
    for (let position = 0; position < chunk.length;) {
      const taken = chunk.subarray(position, position + target.length - filled);
      target.set(taken, filled);
      filled += taken.length;
      position += taken.length;
      if (filled < target.length) return;
      const full = target;
      const [high = 0, low = 0] = full;
      const length = inLength ? high * 256 + low : 2;
      if (!inLength) onFrame(full);
      // An empty message is skipped, so the next two octets are a length again.
      inLength = !inLength || length === 0;
      target = new Uint8Array(inLength ? 2 : length);
      filled = 0;
    }
  };
}

const FORMERR = 1;
const NOTIMP = 4;
const BADVERS = 16;
// UDP, then without mixed case, without EDNS, and over TCP (where EDNS can fail once more).
const MAX_STEPS = 6;

/** The final answer of one server; `message` is null if its octets are not a DNS message. */
export interface ServerReply {
  readonly message: Message | null;
  readonly transport: Transport;
  readonly rttMs: number;
  /** Time until the connection was open, as part of rttMs. 0 over UDP. */
  readonly connectMs: number;
}

/** What a query needs from the process. */
export interface AskDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** PEM roots for encrypted transports, instead of Node's. */
  readonly roots?: readonly string[];
}

/** One server and the limits of its queries. */
interface AskRequest {
  readonly server: EncryptedServer;
  readonly question: WireQuestion;
  readonly flags: QueryFlags;
  /** Form of the first query. */
  readonly shape: Shape;
  /** Monotonic milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
  /** Receives the reason of each try that did not reach the server. */
  unreachable(word: string): void;
}

/**
 * Queries one server until its answer is complete. Repeats over TCP after a truncated (TC) or unreadable answer, and
 * without EDNS or mixed case if the server does not support them. Returns null if no reply arrived. A failing retry
 * does not discard an earlier answer.
 */
export async function askServer(deps: AskDeps, request: AskRequest): Promise<ServerReply | null> {
  let said: ServerReply | null = null;
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
  if (reply.kind === "unreachable") request.unreachable(unreachableReason(reply.reason));
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

/** Returns the form in which to query the same server again, or null if its answer is final. */
function nextShape(shape: Shape, match: Match, message: Message | null): Shape | null {
  // An attacker who guessed the id and port but not the letter case gains nothing, because the next query has new ones.
  if (match === "wrong_case") return { ...shape, mixedCase: false };
  if (message === null) return shape.transport === "udp" ? { ...shape, transport: "tcp" } : null;
  const misunderstood = message.edns === null && (message.rcode === FORMERR || message.rcode === NOTIMP);
  if (shape.edns && (misunderstood || message.rcode === BADVERS)) return { ...shape, edns: false };
  if (message.flags.tc && shape.transport === "udp") return { ...shape, transport: "tcp" };
  return null;
}

/** Sends one query over its own TLS connection (RFC 7858). rttMs is the time from connecting to the complete answer. */
function exchangeDot(server: EncryptedServer, request: ExchangeRequest, roots?: readonly string[]): Promise<Exchange> {
  if (request.signal.aborted) return Promise.resolve({ kind: "silence" });
  return exchangeStream(dialEncrypted(server, ["dot"], roots), request);
}

/**
 * Sends one query over UDP from its own socket, so that the system picks a new random source port. The socket is
 * connected, so it receives ICMP errors and no datagrams from other addresses. rttMs is the time from send to receipt. A
 * flood of forged datagrams ends the exchange.
 */
export function exchangeUdp(server: ServerAddress, request: ExchangeRequest): Promise<Exchange> {
  const { signal, clock } = request;
  if (signal.aborted) return Promise.resolve({ kind: "silence" });
  const socket = createSocket({ type: isIPv6(server.ip) ? "udp6" : "udp4", lookup: takeLiteral });
  let open = true;
  let foreign = 0;
  let sentAt = clock.monotonic();
  const { result, finish } = awaitExchange(request, () => {
    open = false;
    socket.close();
  });
  const fail = (error?: Error | null): void => {
    if (error) finish({ kind: "unreachable", reason: errorReason(error) });
  };
  // The listener stays after the exchange, because a closing socket can still report an error.
  socket.on("error", fail);
  socket.on("message", (bytes) => {
    const rttMs = clock.monotonic() - sentAt;
    if (!open) return;
    if (request.accept(bytes)) finish({ kind: "reply", bytes, rttMs, connectMs: 0 });
    else if (++foreign > MAX_FOREIGN_DATAGRAMS) finish({ kind: "unreachable", reason: "no_answer_among_datagrams" });
  });
  const connectSocket = (): void => {
    if (!open) return;
    socket.connect(server.port, server.ip, (error?: Error) => {
      if (error) return fail(error);
      if (!open) return undefined;
      request.connected?.();
      sentAt = clock.monotonic();
      return socket.send(request.query, fail);
    });
  };
  if (request.source === undefined) connectSocket();
  else socket.bind({ address: request.source, port: 0, exclusive: true }, connectSocket);
  return result;
}

/** Takes an address as it is. Node's own lookup loads the resolver of the system for literals too. */
function takeLiteral(ip: string, family: unknown, done: (error: null, ip: string, family: number) => void): void {
  done(null, ip, isIPv6(ip) ? 6 : 4);
}
