import { createIcmpProber } from "#probe-agent/net/icmp/probers/icmp.ts";
import { createTcpProber } from "#probe-agent/net/icmp/probers/tcp.ts";
import { createUdpProber } from "#probe-agent/net/icmp/probers/udp.ts";
import type { Prober, ProberEvents, ProberTools } from "#probe-agent/net/icmp/probers/prober.ts";
import type { BoundedTrace } from "#probe-agent/net/icmp/messages.ts";
import { paceOf } from "#probe-agent/net/icmp/trace/pace.ts";
import { createTracePlan } from "#probe-agent/net/icmp/trace/plan.ts";
import type { TraceHop } from "#probe-agent/port/packets.ts";

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
export function startTrace(tools: ProberTools, request: BoundedTrace, events: TraceEvents): () => void {
  const { clock } = tools;
  const plan = createTracePlan(paceOf(request), tools.ledger);
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
