import { connect, isIPv6 } from "node:net";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { unreachableReason } from "#probe-agent/analysis/network/icmp-unreachable.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { RefusalRequest } from "#probe-agent/net/icmp/messages.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import { ONE_SYN_MS, type TcpPort } from "#probe-agent/port/packets.ts";

type Probed = Awaited<ReturnType<TcpPort["probe"]>>;

/** Time after which Linux repeats an unanswered SYN, in milliseconds. */
const SECOND_SYN_MS = 1_000;

/** Values of `reason` for a connection that failed without a refusal, by errno name. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ETIMEDOUT", "timeout"],
  ["EHOSTUNREACH", "host_unreachable"],
  ["ENETUNREACH", "network_unreachable"],
  ["EADDRNOTAVAIL", "network_unreachable"],
  ["EHOSTDOWN", "host_unreachable"],
  ["EACCES", "not_permitted"],
  ["EPERM", "not_permitted"],
  ["EMFILE", "out_of_sockets"],
  ["ENFILE", "out_of_sockets"],
]);

/**
 * Creates the TCP port: connections of one SYN each to vetted addresses, closed immediately. `reason` is null if the
 * port is open or closed, else timeout, host_unreachable, network_unreachable, not_permitted, out_of_sockets,
 * cancelled, connect_failed, or target_not_allowed for an address that egress refuses. The RTT is that of the handshake
 * (or the reset), measured with one SYN. The kernel reports a reset and an ICMP error alike; the agent's ICMP process,
 * if available, distinguishes them: then `reason` is the error's name (unreachableReason).
 */
export function createTcp(deps: {
  readonly egress: Egress;
  readonly clock: Clock;
  readonly icmpHost?: IcmpHost;
}): (job: JobLimits) => TcpPort {
  const { egress, clock, icmpHost } = deps;
  return (job) => ({
    probe(ip, port, timeoutMs) {
      if (!egress.allowsAddress(ip)) return Promise.resolve(filtered("target_not_allowed"));
      const waitMs = Math.min(timeoutMs, ONE_SYN_MS, job.deadline - clock.monotonic());
      if (job.signal.aborted || waitMs <= 0) return Promise.resolve(filtered("cancelled"));
      const { promise, resolve } = Promise.withResolvers<Probed>();
      const startedAt = clock.monotonic();
      const socket = connect({ host: ip, port, autoSelectFamily: false });
      let localPort = 0;
      // In the next turn of the event loop the kernel has assigned the local port.
      setImmediate(() => (localPort = socket.localPort ?? 0));
      let isOpen = true;
      const end = (probed: Probed): void => {
        isOpen = false;
        clearTimeout(timer);
        job.signal.removeEventListener("abort", abort);
        socket.destroy();
        resolve(probed);
      };
      const abort = (): void => end(filtered("cancelled"));
      const explain = (otherwise: Probed): void => {
        clearTimeout(timer);
        const connection = { ip, port, localPort };
        findIcmpError(icmpHost, connection, (reason) => end(reason === null ? otherwise : filtered(reason)));
      };
      // Linux does not report an ICMP error that arrived while connect() held the socket. It keeps the error for the
      // next SYN.
      const giveUp = (): void => {
        if (!isOpen) return;
        socket.destroy();
        explain(filtered("timeout"));
      };
      const timer = setTimeout(() => {
        // An answer that arrived while the event loop was blocked is handled after this timer.
        setImmediate(() => setImmediate(giveUp));
      }, waitMs);
      job.signal.addEventListener("abort", abort, { once: true });
      socket.once("connect", () =>
        end({ state: "open", rttMs: roundTrip(clock.monotonic() - startedAt), reason: null }),
      );
      socket.on("error", (error: NodeJS.ErrnoException) => {
        const rttMs = roundTrip(clock.monotonic() - startedAt);
        // A reset right after the handshake still means that a service listens.
        if (error.code === "ECONNRESET") return end({ state: "open", rttMs, reason: null });
        const refused = error.code === "ECONNREFUSED";
        const otherwise: Probed = refused
          ? { state: "closed", rttMs, reason: null }
          : filtered(REASONS.get(error.code ?? "") ?? "connect_failed");
        if (!refused && !ANSWERED.has(error.code ?? "")) return end(otherwise);
        explain(otherwise);
      });
      return promise;
    },
  });
}

/** Returns the RTT; null if the process read the answer so late that the kernel may have sent a second SYN. */
function roundTrip(elapsedMs: number): number | null {
  return elapsedMs < SECOND_SYN_MS ? elapsedMs : null;
}

// Errno names of ICMP errors. ECONNREFUSED can be an ICMP error or a reset.
const ANSWERED: ReadonlySet<string> = new Set(["EHOSTUNREACH", "ENETUNREACH", "ENOPROTOOPT", "EACCES"]);

/** Returns the name of the ICMP error that answered a connection; null if none did, or without a raw socket. */
function findIcmpError(
  host: IcmpHost | undefined,
  request: RefusalRequest,
  report: (reason: string | null) => void,
): void {
  const version = isIPv6(request.ip) ? 6 : 4;
  const able = host?.capabilities();
  if (host === undefined || request.localPort === 0 || !(version === 4 ? able?.v4 : able?.v6)) return report(null);
  host.start({ kind: "refusal", request }, (event) => {
    const refusal = event.kind === "refusal_done" ? event.refusal : null;
    report(refusal === null ? null : unreachableReason(version, refusal.type, refusal.code));
  });
}

function filtered(reason: string): Probed {
  return { state: "filtered", rttMs: null, reason };
}
