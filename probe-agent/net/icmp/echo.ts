import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import type { Demux, Arrival } from "#probe-agent/net/icmp/demux.ts";
import { isFrom } from "#probe-agent/net/icmp/demux.ts";
import type { LagMeter } from "#probe-agent/net/icmp/lag.ts";
import { echoRequest, type IncomingEcho, type IncomingError } from "#probe-agent/net/icmp/packet.ts";
import type { PacketSocket, Sent } from "#probe-agent/net/icmp/socket.ts";
import { isLate } from "#probe-agent/analysis/network/late-reply.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";

/** What every run of the ICMP process shares. */
export interface RunTools {
  readonly clock: () => number;
  readonly random: (count: number) => Buffer;
  readonly demux: Demux;
  readonly lag: LagMeter;
}

/** What a run of echoes tells. Exactly one of `done` and `failed` comes, last; neither after cancelling. */
export interface EchoEvents {
  reply(reply: EchoReply): void;
  done(clockErrorMs: number): void;
  failed(reason: string, message: string): void;
}

/** Octets at the start of each payload that make an answer ours. */
export const COOKIE_BYTES = 8;

/**
 * Sends `count` echoes `intervalMs` apart by plan, not by when the last one left, and listens until all are answered
 * or `timeoutMs` after the last one. Returns the way to cancel it.
 */
export function startEcho(tools: RunTools, socket: PacketSocket, request: EchoRequest, events: EchoEvents): () => void {
  const { clock, demux } = tools;
  const cookie = tools.random(COOKIE_BYTES);
  const payload = patternOf(cookie, Math.max(request.size, COOKIE_BYTES));
  const target = addressBytes(request.ip);
  const sentAt = new Map<number, number>();
  const answered = new Set<number>();
  const startedAt = clock();
  const lag = tools.lag.start();
  let planned = 0;
  let largestRttMs = 0;
  let over = false;
  let timer: NodeJS.Timeout | undefined;

  const { id, forget } = demux.listenEcho({ onEcho, onError });

  function onEcho(reply: IncomingEcho, arrival: Arrival): void {
    const sent = sentAt.get(reply.seq);
    if (over || sent === undefined) return;
    const ours = reply.payload.subarray(0, COOKIE_BYTES).equals(cookie);
    // A right checksum over another cookie is another's answer or that of an earlier run.
    if (!ours && (reply.checksumOk || !isFrom(request.ip, arrival))) return;
    const rttMs = arrival.at - sent;
    const heard = {
      seq: reply.seq,
      rttMs,
      ttl: reply.ttl,
      ...(isFrom(request.ip, arrival) ? {} : { from: arrival.from }),
    };
    if (answered.has(reply.seq)) return events.reply({ ...heard, status: "duplicate" });
    if (!reply.checksumOk || !reply.payload.equals(payload)) return settle({ ...heard, status: "corrupt" });
    const late = isLate(rttMs, largestRttMs);
    largestRttMs = Math.max(largestRttMs, rttMs);
    settle({ ...heard, status: late ? "late" : "ok" });
  }

  function onError({ quoted, meaning, code }: IncomingError, arrival: Arrival): void {
    if (over || quoted.protocol !== "icmp" || !quoted.destination.equals(target)) return;
    if (!sentAt.has(quoted.seq) || answered.has(quoted.seq)) return;
    const shown = Math.min(COOKIE_BYTES, quoted.payload.length);
    if (!quoted.payload.subarray(0, shown).equals(cookie.subarray(0, shown))) return;
    settle({ seq: quoted.seq, rttMs: null, ttl: null, status: meaning, code, from: arrival.from });
  }

  function settle(reply: EchoReply): void {
    answered.add(reply.seq);
    lag.closed();
    events.reply(reply);
    if (answered.size === request.count) finish();
  }

  function sendNext(): void {
    if (over) return;
    planned += 1;
    const seq = planned;
    if (seq < request.count) {
      timer = setTimeout(sendNext, Math.max(0, startedAt + seq * request.intervalMs - clock()));
    }
    socket.send(echoRequest(socket.version, id, seq, payload), request.ip, { ttl: request.ttl }, (result) =>
      onSent(seq, result),
    );
  }

  function onSent(seq: number, result: Sent): void {
    if (over) return;
    if ("reason" in result) {
      stop();
      return events.failed(result.reason, result.message);
    }
    sentAt.set(seq, result.at);
    lag.opened();
    if (seq === request.count) timer = setTimeout(() => socket.whenDrained(finish), request.timeoutMs);
  }

  function finish(): void {
    if (over) return;
    const clockErrorMs = stop();
    for (let seq = 1; seq <= request.count; seq += 1) {
      if (!answered.has(seq)) events.reply({ seq, rttMs: null, ttl: null, status: "timeout" });
    }
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

/** The cookie, then octets that count up: what comes back changed shows. */
function patternOf(cookie: Buffer, size: number): Buffer {
  const payload = Buffer.from(Array.from({ length: size }, (_, index) => index & 0xff));
  cookie.copy(payload);
  return payload;
}
