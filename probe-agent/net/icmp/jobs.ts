import { createAnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import { startEcho, type RunTools } from "#probe-agent/net/icmp/echo.ts";
import { isIPv6 } from "node:net";
import type { IcmpSockets } from "#probe-agent/net/icmp/capabilities.ts";
import type { JobEvent, ToChild, MtuRequest, BoundedTrace } from "#probe-agent/net/icmp/messages.ts";
import type { ProberTools, Prober, ProberEvents } from "#probe-agent/net/icmp/probers/prober.ts";
import type { PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";
import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { isFrom } from "#probe-agent/net/icmp/demux.ts";
import { carriesCookie, COOKIE_BYTES, matchesCookie } from "#probe-agent/net/icmp/cookie.ts";
import { interfaceMtu } from "#probe-agent/net/icmp/interface.ts";
import { echoRequest } from "#probe-agent/net/icmp/packet.ts";
import { createMtuPlan, type MtuPlan } from "#probe-agent/net/icmp/path-mtu.ts";
import type { PathMtu, TraceHop } from "#probe-agent/port/packets.ts";
import { createIcmpProber } from "#probe-agent/net/icmp/probers/icmp.ts";
import { createTcpProber } from "#probe-agent/net/icmp/probers/tcp.ts";
import { createUdpProber } from "#probe-agent/net/icmp/probers/udp.ts";
import { timingOf } from "#probe-agent/net/icmp/trace/trace-timing.ts";
import { createTracePlan } from "#probe-agent/net/icmp/trace/plan.ts";

/** Running jobs of the ICMP process. */
interface Jobs {
  /** Starts or cancels a job. */
  handle(message: ToChild): void;
}

/**
 * Creates the jobs of the process on its shared sockets. `report` receives the events of each job; the last one ends
 * it, and comes with the number of jobs that still run.
 */
export function createJobs(
  tools: RunTools,
  sockets: IcmpSockets,
  openTcp: Record<4 | 6, ProberTools["openTcp"]>,
  report: (event: JobEvent, left?: number) => void,
): Jobs {
  const running = new Map<number, () => void>();
  const ledger = createAnswerLedger();
  const end = (event: JobEvent): void => {
    running.delete(event.job);
    report(event, running.size);
  };
  const start = (
    message: Exclude<ToChild, { kind: "cancel" }>,
    version: IpVersion,
    socket: PacketSocket,
    failed: (reason: string, text: string) => void,
  ): (() => void) => {
    const { job } = message;
    switch (message.kind) {
      case "echo":
        return startEcho(tools, socket, message.request, {
          reply: (reply) => report({ job, kind: "reply", reply }),
          done: (clockErrorMs) => end({ job, kind: "echo_done", clockErrorMs }),
          failed,
        });
      case "trace":
        return startTrace({ ...tools, ledger, version, icmp: socket, openTcp: openTcp[version] }, message.request, {
          hop: (hop) => report({ job, kind: "hop", hop }),
          done: (reached) => end({ job, kind: "trace_done", reached }),
          failed,
        });
      case "mtu":
        return startMtu(tools, socket, message.request, {
          done: (mtu) => end({ job, kind: "mtu_done", mtu }),
          failed,
        });
      case "refusal":
        // The ICMP error may have arrived and not be read yet.
        socket.whenDrained(() => end({ job, kind: "refusal_done", refusal: tools.demux.findRefusal(message.request) }));
        return () => {};
    }
  };
  return {
    handle(message) {
      const { job } = message;
      if (message.kind === "cancel") {
        running.get(job)?.();
        running.delete(job);
        return;
      }
      const version = isIPv6(message.request.ip) ? 6 : 4;
      const socket = sockets.of(version);
      const failed = (reason: string, text: string): void => end({ job, kind: "failed", reason, message: text });
      if (socket === null) return failed("unsupported", `this agent has no raw socket for IPv${version}`);
      // A run can end while it starts. Only a run that continues is stored.
      running.set(job, () => {});
      const cancel = start(message, version, socket, failed);
      if (running.has(job)) running.set(job, cancel);
    },
  };
}

/** Receives the result of a search: exactly one of `done` and `failed`. After cancelling, there is neither. */
interface MtuEvents {
  done(mtu: PathMtu): void;
  failed(reason: string, message: string): void;
}

const HEADER_BYTES = { 4: 28, 6: 48 } as const;
const TTL = 64;

/**
 * Searches for the path's MTU, as its plan decides, until it ends or its budget is used up. Returns a function that
 * cancels it.
 */
function startMtu(tools: RunTools, socket: PacketSocket, request: MtuRequest, events: MtuEvents): () => void {
  const { clock, demux } = tools;
  const { version } = socket;
  const { ip } = request;
  const cookie = tools.random(COOKIE_BYTES);
  const target = addressBytes(ip);
  const sizes = new Map<number, number>();
  let plan: MtuPlan | null = null;
  let over = false;
  let sending = false;
  let timer: NodeJS.Timeout | undefined;
  const guard = setTimeout(() => end(), request.budgetMs);

  const { id, forget } = demux.listenEcho({
    onEcho({ seq, payload }, arrival) {
      const size = sizes.get(seq);
      if (over || plan === null || size === undefined || !isFrom(ip, arrival)) return;
      if (payload.length + HEADER_BYTES[version] !== size || !carriesCookie(payload, cookie)) return;
      plan.passed(size, arrival.at);
      step();
    },
    onError({ quoted, nextHopMtu }, arrival) {
      if (over || plan === null || nextHopMtu === null || quoted.protocol !== "icmp") return;
      const size = sizes.get(quoted.seq);
      if (size === undefined || !quoted.destination.equals(target) || !matchesCookie(quoted.payload, cookie)) return;
      plan.refused(size, nextHopMtu, arrival.from);
      step();
    },
  });

  function stop(): void {
    over = true;
    clearTimeout(timer);
    clearTimeout(guard);
    forget();
  }
  function end(): void {
    if (over) return;
    stop();
    if (plan === null) events.failed("send_failed", "reading the MTU of the interface timed out");
    else events.done(plan.verdict());
  }
  function step(): void {
    clearTimeout(timer);
    if (over || sending || plan === null) return;
    const next = plan.next(clock());
    if (next.do === "end") return end();
    if (next.do === "send") return send(plan, next.size);
    timer = setTimeout(() => socket.whenDrained(step), Math.max(1, next.until - clock()));
  }
  function send(current: MtuPlan, size: number): void {
    const seq = sizes.size + 1;
    sizes.set(seq, size);
    sending = true;
    const payload = Buffer.alloc(size - HEADER_BYTES[version]);
    cookie.copy(payload);
    socket.send(echoRequest(version, id, seq, payload), ip, { ttl: TTL, dontFragment: true }, (result) => {
      sending = false;
      if (over) return;
      if ("at" in result) current.sent(size, result.at);
      else if (result.reason === "message_too_long") current.unsendable(size);
      else {
        stop();
        return events.failed(result.reason, result.message);
      }
      step();
    });
  }

  const begin = async (): Promise<void> => {
    plan = createMtuPlan(version, await interfaceMtu(version, ip));
    step();
  };
  begin().catch(() => end());
  return () => {
    if (!over) stop();
  };
}

/**
 * Receives the events of a trace. The last event is exactly one of `done` and `failed`. After cancelling, there is
 * neither.
 */
interface TraceEvents {
  hop(hop: TraceHop): void;
  done(reached: boolean): void;
  failed(reason: string, message: string): void;
}

const PROBERS = { icmp: createIcmpProber, udp: createUdpProber, tcp: createTcpProber } as const;

/** Runs a trace, as its plan decides, until it ends or its budget is used up. Returns a function that cancels it. */
function startTrace(tools: ProberTools, request: BoundedTrace, events: TraceEvents): () => void {
  const { clock } = tools;
  const plan = createTracePlan(timingOf(request), tools.ledger);
  let reported = 0;
  let number = 0;
  let over = false;
  let sending = false;
  let prober: Prober | null = null;
  let timer: NodeJS.Timeout | undefined;

  const guard = setTimeout(() => end(), request.budgetMs);

  const stop = (): void => {
    over = true;
    clearTimeout(timer);
    clearTimeout(guard);
    prober?.close();
  };
  const reportHops = (final: boolean): void => {
    const hops = plan.hops(clock(), final);
    for (const hop of hops.slice(reported)) events.hop(hop);
    reported = Math.max(reported, hops.length);
  };
  const end = (): void => {
    if (over) return;
    reportHops(true);
    stop();
    events.done(plan.reached());
  };
  const step = (): void => {
    clearTimeout(timer);
    if (over || sending || prober === null) return;
    const now = clock();
    const next = plan.next(now);
    if (next.do === "end") return end();
    if (next.do === "send") {
      number += 1;
      sending = true;
      return prober.send(number, next.ttl, next.flow);
    }
    reportHops(false);
    // Timers fire on whole milliseconds, up to one millisecond early.
    timer = setTimeout(step, Math.max(1, next.until - now));
  };
  const proberEvents: ProberEvents = {
    sent(probe, ttl, at) {
      sending = false;
      plan.sent(probe, ttl, at);
      step();
    },
    answered(probe, answer) {
      const { from, at, passage, ttlLeft, ...rest } = answer;
      const reply = { ip: from, ...rest };
      if (!over && plan.answered(probe, { reply, passage, ttlLeft, at })) step();
    },
    failed(reason, message) {
      if (over) return;
      stop();
      events.failed(reason, message);
    },
  };
  const begin = async (): Promise<void> => {
    const created = await PROBERS[request.protocol](tools, request, proberEvents);
    if (over) return created.close();
    prober = created;
    step();
  };
  begin().catch((error: unknown) => proberEvents.failed("unsupported", messageOf(error)));
  return () => {
    if (!over) stop();
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "the probes could not be sent";
}
