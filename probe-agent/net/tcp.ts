import { connect } from "node:net";
import type { Clock } from "#shared/clock.ts";
import type { Egress } from "#shared/egress.ts";
import type { JobLimits } from "#probe-agent/net/limits.ts";
import type { TcpPort } from "#probe-agent/net/port/packets.ts";

type Probed = Awaited<ReturnType<TcpPort["probe"]>>;

/** Words of `reason` for what the kernel reports of a connection that neither stood nor was refused. */
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
 * TCP connections to vetted addresses, closed at once. `reason` is null where the port is open or closed, else timeout,
 * host_unreachable, network_unreachable, not_permitted, out_of_sockets, cancelled, connect_failed, or target_not_allowed
 * for an address that egress refuses. The RTT is that of the handshake (or the reset).
 */
export function createTcp(deps: { readonly egress: Egress; readonly clock: Clock }): (job: JobLimits) => TcpPort {
  const { egress, clock } = deps;
  return (job) => ({
    probe(ip, port, timeoutMs) {
      if (!egress.allowsAddress(ip)) return Promise.resolve(filtered("target_not_allowed"));
      const waitMs = Math.min(timeoutMs, job.deadline - clock.monotonic());
      if (job.signal.aborted || waitMs <= 0) return Promise.resolve(filtered("cancelled"));
      const { promise, resolve } = Promise.withResolvers<Probed>();
      const startedAt = clock.monotonic();
      const socket = connect({ host: ip, port, autoSelectFamily: false });
      const end = (probed: Probed): void => {
        clearTimeout(timer);
        job.signal.removeEventListener("abort", abort);
        socket.destroy();
        resolve(probed);
      };
      const abort = (): void => end(filtered("cancelled"));
      const timer = setTimeout(() => {
        // An answer that came while the loop was held up stands behind this timer.
        setImmediate(() => setImmediate(() => end(filtered("timeout"))));
      }, waitMs);
      job.signal.addEventListener("abort", abort, { once: true });
      socket.once("connect", () => end({ state: "open", rttMs: clock.monotonic() - startedAt, reason: null }));
      socket.on("error", (error: NodeJS.ErrnoException) => {
        const rttMs = clock.monotonic() - startedAt;
        // A reset right after the handshake still means that something listens.
        if (error.code === "ECONNRESET") return end({ state: "open", rttMs, reason: null });
        if (error.code === "ECONNREFUSED") return end({ state: "closed", rttMs, reason: null });
        end(filtered(REASONS.get(error.code ?? "") ?? "connect_failed"));
      });
      return promise;
    },
  });
}

function filtered(reason: string): Probed {
  return { state: "filtered", rttMs: null, reason };
}
