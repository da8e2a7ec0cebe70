import { createAnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import { startEcho, type RunTools } from "#probe-agent/net/icmp/echo.ts";
import { isIPv6 } from "node:net";
import type { IcmpSockets } from "#probe-agent/net/icmp/capabilities.ts";
import type { JobEvent, ToChild } from "#probe-agent/net/icmp/messages.ts";
import { startMtu } from "#probe-agent/net/icmp/path-mtu/run.ts";
import type { ProberTools } from "#probe-agent/net/icmp/probers/prober.ts";
import type { PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import { startTrace } from "#probe-agent/net/icmp/trace/run.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** Running jobs of the ICMP process. */
interface Jobs {
  /** Starts or cancels a job. */
  handle(message: ToChild): void;
}

/**
 * Creates the jobs of the process on its shared sockets. `report` receives the events of each job; the last one ends
 * it.
 */
export function createJobs(
  tools: RunTools,
  sockets: IcmpSockets,
  openTcp: Record<4 | 6, ProberTools["openTcp"]>,
  report: (event: JobEvent) => void,
): Jobs {
  const running = new Map<number, () => void>();
  const ledger = createAnswerLedger();
  const end = (event: JobEvent): void => {
    running.delete(event.job);
    report(event);
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
