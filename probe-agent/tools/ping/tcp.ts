import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { PingReply } from "#shared/tools/ping/contract.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import { isLate } from "#probe-agent/analysis/network/late-reply.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import { ONE_SYN_MS, type TcpPort } from "#probe-agent/port/packets.ts";
import {
  probeFault,
  RESERVE_MS,
  scheduleEchoes,
  summarize,
  type Part,
  type PingParams,
} from "#probe-agent/tools/ping/part.ts";

type Probed = Awaited<ReturnType<TcpPort["probe"]>>;

/** Ports that hosts on the internet often answer on, by a service or a reset, in the order they are tried. */
const LIKELY_PORTS = [443, 80] as const;
/** Reasons that mean no answer. Every other reason is an ICMP error. */
const SILENT: ReadonlySet<string> = new Set(["timeout", "cancelled", "connect_failed"]);

const TICK_MS = 5;

/**
 * Pings by TCP handshakes with one SYN each: SYN-ACK or RST within ONE_SYN_MS is a reply, a lost SYN is loss. If no
 * port is requested, the first echo finds one that answers. Failures are the probe's, stage connect (probeFault). A
 * host that never answers is a result.
 */
export async function pingByTcp(
  net: Net,
  address: Address,
  params: PingParams,
  notes: readonly string[],
): Promise<Outcome<Part>> {
  const stopWatch = watchLoopLag(net);
  try {
    return await handshakes(net, address, params, notes, stopWatch);
  } finally {
    stopWatch();
  }
}

async function handshakes(
  net: Net,
  address: Address,
  params: PingParams,
  notes: readonly string[],
  lagSoFar: () => number,
): Promise<Outcome<Part>> {
  const leftMs = (): number => net.remainingMs() - RESERVE_MS;
  const gapsMs = (params.count - 1) * params.interval_ms;
  const rows: PingReply[] = [];
  let largestMs = 0;
  let shortestWaitMs: number = ONE_SYN_MS;
  const shakeHands = (port: number, waitMs: number): Promise<Probed> => {
    shortestWaitMs = Math.min(shortestWaitMs, waitMs);
    return net.tcp.probe(address.ip, port, waitMs);
  };
  const note = (seq: number, { state, rttMs, reason }: Probed): void => {
    const row: PingReply = {
      seq,
      rtt_ms: rttMs === null ? null : toMicroseconds(rttMs),
      ttl: null,
      status:
        rttMs !== null
          ? isLate(rttMs, largestMs)
            ? "late"
            : "ok"
          : reason === null || SILENT.has(reason)
            ? "timeout"
            : "unreachable",
    };
    if (state !== "filtered") largestMs = Math.max(largestMs, rttMs ?? 0);
    rows.push(row);
    net.emit({ kind: "reply", data: row });
  };

  const candidates = params.port === undefined ? LIKELY_PORTS : [params.port];
  const trialMs = Math.min(ONE_SYN_MS, (leftMs() - gapsMs) / (candidates.length + 1));
  let port: number = candidates[0] ?? LIKELY_PORTS[0];
  let first: Probed | null = null;
  let startedAt = net.monotonic();
  for (const candidate of candidates) {
    startedAt = net.monotonic();
    const probed = await shakeHands(candidate, Math.max(trialMs, 1));
    const fault = probeFault(probed.reason);
    if (fault !== null) return fault;
    if (first === null || probed.state !== "filtered") {
      first = probed;
      port = candidate;
    }
    if (probed.state !== "filtered") break;
  }
  if (first === null) return failed("connect", "probe", "cancelled", "the check ended before the first handshake");
  note(1, first);

  // By now, the first handshake has ended. The others keep the interval from here.
  if (first.state === "filtered") startedAt = net.monotonic() - params.interval_ms;
  const schedule = scheduleEchoes(params.count - 1, params.interval_ms, leftMs());
  const more = schedule?.count ?? 0;
  const pending: Promise<void>[] = [];
  for (let seq = 2; seq <= more + 1; seq += 1) {
    await pause(startedAt + (seq - 1) * params.interval_ms - net.monotonic());
    const waitMs = Math.max(1, Math.min(schedule?.waitMs ?? 0, leftMs()));
    pending.push(shakeHands(port, waitMs).then((probed) => note(seq, probed)));
  }
  await Promise.all(pending);
  const sent = more + 1;
  return ok({
    fields: { method: "tcp", port, ...summarize(sent, rows), clock_error_ms: toMicroseconds(lagSoFar()) },
    limitations: [
      ...notes,
      ...(sent < params.count ? [`Only ${sent} of ${params.count} handshakes fit before the deadline.`] : []),
      ...(port === candidates[0]
        ? []
        : [`Port ${candidates[0]} did not answer one handshake, so port ${port} was used.`]),
      ...(rows.some(({ status }) => status === "timeout") ? [lossNote(shortestWaitMs)] : []),
    ],
  });
}

function lossNote(waitMs: number): string {
  return (
    `A handshake without an answer within ${Math.floor(waitMs)} ms counts as lost: the system would send a second SYN ` +
    "after 1 s. TCP cannot measure a path with a longer round trip."
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

/**
 * Measures how late timers of this process fire. The returned function ends the measurement and returns the worst lag
 * in milliseconds.
 */
function watchLoopLag(net: Net): () => number {
  let worst = 0;
  let armedAt = net.monotonic();
  const measure = (): void => {
    worst = Math.max(worst, net.monotonic() - armedAt - TICK_MS);
    armedAt = net.monotonic();
  };
  const timer = setInterval(measure, TICK_MS);
  return () => {
    clearInterval(timer);
    measure();
    return worst;
  };
}
