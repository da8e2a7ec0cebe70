import { COOKIE_BYTES } from "#probe-agent/net/icmp/cookie.ts";
import type { Demux } from "#probe-agent/net/icmp/demux.ts";
import { createEchoAnswers } from "#probe-agent/net/icmp/echo-answers.ts";
import type { LagMeter } from "#probe-agent/net/icmp/lag.ts";
import { echoRequest } from "#probe-agent/net/icmp/packet.ts";
import type { Sent } from "#probe-agent/net/icmp/packet-sender.ts";
import type { PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";

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
    socket.send(packet, request.ip, { ttl: request.ttl }, (result) => onSent(seq, result));
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
