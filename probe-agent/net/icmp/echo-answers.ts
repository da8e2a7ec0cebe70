import { isLate } from "#probe-agent/analysis/network/late-reply.ts";
import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { carriesCookie, matchesCookie } from "#probe-agent/net/icmp/cookie.ts";
import { isFrom, type Arrival } from "#probe-agent/net/icmp/demux.ts";
import type { IncomingEcho, IncomingError } from "#probe-agent/net/icmp/packet.ts";
import type { EchoReply } from "#probe-agent/port/packets.ts";

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
