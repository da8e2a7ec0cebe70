import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, refused, type Outcome } from "#shared/contracts/outcome.ts";
import type { IcmpHost, IcmpOrder } from "#probe-agent/net/icmp/host.ts";
import type { JobEvent } from "#probe-agent/net/icmp/messages.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { TraceHop, TracePort, TraceRequest, TraceRun } from "#probe-agent/port/packets.ts";
import { createTurns } from "#probe-agent/threads/turns.ts";

// More concurrent traces use up the error limit of the routers near the agent, which then stay silent.
const TRACES_AT_ONCE = 3;
// Time kept for the caller after a trace without a time limit of its own, in milliseconds.
const RESERVE_MS = 500;
const LEAST_BUDGET_MS = 1_000;

/**
 * Creates the trace port, which uses the agent's ICMP process. A few traces run at the same time; others wait. Failures
 * have source probe and stage request: those of createIcmp, and busy (no turn before the deadline). `unsupported` also
 * covers a protocol whose probes this agent cannot send.
 */
export function createTrace(deps: {
  readonly host: IcmpHost;
  readonly egress: Egress;
  readonly clock: Clock;
}): (job: JobLimits) => TracePort {
  const turns = createTurns(TRACES_AT_ONCE);
  return (job) => ({
    pathMtu(ip, budgetMs) {
      if (!deps.egress.allowsAddress(ip)) return Promise.resolve(refused);
      return runOrder(deps.host, job.signal, { kind: "mtu", request: { ip, budgetMs } }, (event) =>
        event.kind === "mtu_done" ? event.mtu : null,
      );
    },
    async run(request, onHop) {
      if (!deps.egress.allowsAddress(request.ip)) return refused;
      const done = await turns.take(job.signal);
      if (done === null)
        return failed("request", "probe", "busy", "other traces kept the agent busy until the deadline");
      try {
        const leftMs = job.deadline - deps.clock.monotonic() - RESERVE_MS;
        const budgetMs = Math.min(request.budgetMs ?? leftMs, leftMs);
        if (budgetMs < LEAST_BUDGET_MS) {
          return failed(
            "request",
            "probe",
            "busy",
            "other traces kept the agent busy; too little time is left for this one",
          );
        }
        return await trace(deps.host, job.signal, { ...request, budgetMs }, onHop);
      } finally {
        done();
      }
    },
  });
}

function trace(
  host: IcmpHost,
  signal: AbortSignal,
  request: TraceRequest & { readonly budgetMs: number },
  onHop: (hop: TraceHop) => void,
): Promise<Outcome<TraceRun>> {
  const hops: TraceHop[] = [];
  return runOrder(host, signal, { kind: "trace", request }, (event) => {
    if (event.kind === "hop") {
      hops.push(event.hop);
      onHop(event.hop);
    }
    return event.kind === "trace_done" ? { reached: event.reached, hops } : null;
  });
}

/** Runs one job of the ICMP process until `read` returns a result for an event. */
function runOrder<T>(
  host: IcmpHost,
  signal: AbortSignal,
  order: IcmpOrder,
  read: (event: JobEvent) => T | null,
): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const end = (outcome: Outcome<T>): void => {
      signal.removeEventListener("abort", abort);
      resolve(outcome);
    };
    const cancel = host.start(order, (event) => {
      if (event.kind === "failed") return end(failed("request", "probe", event.reason, event.message));
      const result = read(event);
      if (result !== null) end(ok(result));
    });
    function abort(): void {
      cancel();
      end(failed("request", "probe", "cancelled", "the check ended before the trace completed"));
    }
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
  });
}
