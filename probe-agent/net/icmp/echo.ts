import { COOKIE_BYTES, carriesCookie, matchesCookie } from "#probe-agent/net/icmp/cookie.ts";
import { type Demux, isFrom, type Arrival } from "#probe-agent/net/icmp/demux.ts";
import type { LagMeter } from "#probe-agent/net/icmp/lag.ts";
import { echoRequest, type IncomingEcho, type IncomingError } from "#probe-agent/net/icmp/packet.ts";
import type { Sent } from "#probe-agent/net/icmp/packet-sender.ts";
import type { PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";
import { isLate } from "#probe-agent/analysis/network/late-reply.ts";
import { addressBytes } from "#probe-agent/net/icmp/address.ts";

/** Dependencies shared by all runs of the ICMP process. */
export interface RunTools {
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  readonly random: (count: number) => Buffer;
  readonly demux: Demux;
  readonly lag: LagMeter;
}

/**
 * Receives the events of a run of echoes. The last event is exactly one of `done` and `failed`. After cancelling, there
 * is neither.
 */
interface EchoEvents {
  reply(reply: EchoReply): void;
  done(clockErrorMs: number): void;
  failed(reason: string, message: string): void;
}

/**
 * Sends `count` echoes `intervalMs` apart, measured from the start of the run. Listens until all are answered, or until
 * `timeoutMs` after the last one. Returns a function that cancels the run.
 */
export function startEcho(tools: RunTools, socket: PacketSocket, request: EchoRequest, events: EchoEvents): () => void {
  const { clock } = tools;
  const cookie = tools.random(COOKIE_BYTES);
  const payload = patternOf(cookie, Math.max(request.size, COOKIE_BYTES));
  const answers = createEchoAnswers(request.ip, cookie, payload);
  const startedAt = clock();
  const lag = tools.lag.start();
  let planned = 0;
  let over = false;
  let timer: NodeJS.Timeout | undefined;

  const { id, forget } = tools.demux.listenEcho({
    onEcho: (reply, arrival) => onAnswer(over ? null : answers.readReply(reply, arrival)),
    onError: (error, arrival) => onAnswer(over ? null : answers.readError(error, arrival)),
  });

  function onAnswer(reply: EchoReply | null): void {
    if (reply === null) return;
    if (reply.status !== "duplicate") lag.closed();
    events.reply(reply);
    if (reply.status !== "duplicate" && answers.answered() === request.count) finish();
  }

  function sendNext(): void {
    if (over) return;
    planned += 1;
    const seq = planned;
    if (seq < request.count) {
      timer = setTimeout(sendNext, Math.max(0, startedAt + seq * request.intervalMs - clock()));
    }
    const packet = echoRequest(socket.version, id, seq, payload);
    const { ttl, dontFragment = false, source } = request;
    const how = { ttl, dontFragment, ...(source === undefined ? {} : { source }) };
    socket.send(packet, request.ip, how, (result) => onSent(seq, result));
  }

  function onSent(seq: number, result: Sent): void {
    if (over) return;
    if ("reason" in result) {
      stop();
      return events.failed(result.reason, result.message);
    }
    answers.sent(seq, result.at);
    lag.opened();
    if (seq === request.count) timer = setTimeout(() => socket.whenDrained(finish), request.timeoutMs);
  }

  function finish(): void {
    if (over) return;
    const clockErrorMs = stop();
    answers.timeouts(request.count).forEach((reply) => events.reply(reply));
    events.done(clockErrorMs);
  }

  function stop(): number {
    over = true;
    clearTimeout(timer);
    forget();
    return lag.stop();
  }

  sendNext();
  return () => {
    if (!over) stop();
  };
}

/** Returns the cookie, followed by octets that count up. They reveal changes made on the path. */
function patternOf(cookie: Buffer, size: number): Buffer {
  const payload = Buffer.from(Array.from({ length: size }, (_, index) => index & 0xff));
  cookie.copy(payload);
  return payload;
}

/**
 * The echoes of one run and their answers, without any I/O. Sequence numbers start at 1. Times are monotonic
 * milliseconds.
 */
interface EchoAnswers {
  sent(seq: number, at: number): void;
  /** Reads an echo reply. Returns null if it does not answer an echo of this run. */
  readReply(reply: IncomingEcho, arrival: Arrival): EchoReply | null;
  /** Reads an ICMP error. Returns null if it does not answer an open echo of this run. */
  readError(error: IncomingError, arrival: Arrival): EchoReply | null;
  /** Number of echoes with an answer. Duplicates do not count. */
  answered(): number;
  /** Returns a timeout for each of the first `count` echoes without an answer. */
  timeouts(count: number): readonly EchoReply[];
}

interface Run {
  readonly ip: string;
  readonly target: Buffer;
  readonly cookie: Buffer;
  readonly payload: Buffer;
  readonly sentAt: Map<number, number>;
  readonly answered: Set<number>;
  largestRttMs: number;
}

/** Creates the record of a run to `ip` whose echoes contain `payload`. The payload starts with `cookie`. */
export function createEchoAnswers(ip: string, cookie: Buffer, payload: Buffer): EchoAnswers {
  const target = addressBytes(ip);
  const run: Run = { ip, target, cookie, payload, sentAt: new Map(), answered: new Set(), largestRttMs: 0 };
  return {
    sent: (seq, at) => run.sentAt.set(seq, at),
    readReply: (reply, arrival) => readReply(run, reply, arrival),
    readError: (error, arrival) => readError(run, error, arrival),
    answered: () => run.answered.size,
    timeouts: (count) =>
      Array.from({ length: count }, (_, index) => index + 1)
        .filter((seq) => !run.answered.has(seq))
        .map((seq) => ({ seq, rttMs: null, ttl: null, status: "timeout" })),
  };
}

function readReply(run: Run, reply: IncomingEcho, arrival: Arrival): EchoReply | null {
  const sent = run.sentAt.get(reply.seq);
  if (sent === undefined) return null;
  const fromTarget = isFrom(run.ip, arrival);
  // A correct checksum over another cookie means that the answer belongs to another program or an earlier run.
  if (!carriesCookie(reply.payload, run.cookie) && (reply.checksumOk || !fromTarget)) return null;
  const rttMs = arrival.at - sent;
  const common = { seq: reply.seq, rttMs, ttl: reply.ttl, ...(fromTarget ? {} : { from: arrival.from }) };
  if (run.answered.has(reply.seq)) return { ...common, status: "duplicate" };
  run.answered.add(reply.seq);
  if (!reply.checksumOk || !reply.payload.equals(run.payload)) return { ...common, status: "corrupt" };
  const late = isLate(rttMs, run.largestRttMs);
  run.largestRttMs = Math.max(run.largestRttMs, rttMs);
  return { ...common, status: late ? "late" : "ok" };
}

function readError(run: Run, { quoted, meaning, code }: IncomingError, arrival: Arrival): EchoReply | null {
  if (quoted.protocol !== "icmp" || !quoted.destination.equals(run.target)) return null;
  if (!run.sentAt.has(quoted.seq) || run.answered.has(quoted.seq)) return null;
  if (!matchesCookie(quoted.payload, run.cookie)) return null;
  run.answered.add(quoted.seq);
  return { seq: quoted.seq, rttMs: null, ttl: null, status: meaning, code, from: arrival.from };
}
