import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, refused, type Outcome } from "#shared/contracts/outcome.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { QuicPort, QuicProbe } from "#probe-agent/port/quic.ts";
import {
  isReserved,
  RANDOM_BYTES,
  readVersions,
  versionProbe,
  type VersionProbe,
} from "#probe-agent/net/quic-packet.ts";

/** Dependencies of the QUIC port. */
interface QuicDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly egress: Egress;
}

/**
 * Send time of each datagram, in milliseconds after the first one. Several are sent because one may be lost and servers
 * limit their answers.
 */
const SEND_AT_MS = [0, 300, 900];
const SILENCE: QuicProbe = { reachable: "unknown", versions: [], rttMs: null };

/**
 * Creates the QUIC port. Each probe has its own connected socket, so that only the peer's datagrams and ICMP errors
 * arrive. Datagrams that do not answer the probe are dropped.
 */
export function createQuic(dependencies: QuicDependencies): (job: JobLimits) => QuicPort {
  const { clock, egress } = dependencies;
  return (job) => ({
    probe(ip, port, timeoutMs) {
      if (!egress.allowsAddress(ip)) return Promise.resolve(refused);
      const waitMs = Math.min(timeoutMs, job.deadline - clock.monotonic());
      if (job.signal.aborted || waitMs <= 0) return Promise.resolve(cancelled());
      return exchange({ ip, port, waitMs, signal: job.signal }, dependencies);
    },
  });
}

interface Attempt {
  readonly ip: string;
  readonly port: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

function exchange(attempt: Attempt, { clock, random, egress }: QuicDependencies): Promise<Outcome<QuicProbe>> {
  const { ip, port, waitMs, signal } = attempt;
  const { promise, resolve } = Promise.withResolvers<Outcome<QuicProbe>>();
  // Each datagram is a separate probe. The round trip is that of the answered one.
  const sent: { readonly probe: VersionProbe; readonly at: number }[] = [];
  const timers: NodeJS.Timeout[] = [];
  const socket = createSocket(isIPv6(ip) ? "udp6" : "udp4");
  let open = true;
  const end = (outcome: Outcome<QuicProbe>): void => {
    if (!open) return;
    open = false;
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    socket.close();
    resolve(outcome);
  };
  const abort = (): void => end(cancelled());
  const fail = (error?: NodeJS.ErrnoException | null): void => {
    if (error === undefined || error === null) return;
    // The kernel reports ICMP "port unreachable" with this code. Other errors of a router say nothing about the port.
    if (error.code === "ECONNREFUSED") end(ok({ ...SILENCE, reachable: false }));
    else if (sent.length === 0 || LOCAL.has(error.code ?? "")) end(localError(error.code));
  };
  const send = (): void => {
    if (!open) return;
    const probe = versionProbe(random.bytes(RANDOM_BYTES));
    sent.push({ probe, at: clock.monotonic() });
    socket.send(probe.datagram, fail);
  };
  // The listener stays after the exchange, because a closing socket may still report an error.
  socket.on("error", fail);
  socket.on("message", (datagram) => {
    const receivedAt = clock.monotonic();
    for (const { probe, at } of sent) {
      const versions = readVersions(datagram, probe);
      if (versions !== null) return end(ok(answer(versions, receivedAt - at)));
    }
    return undefined;
  });
  signal.addEventListener("abort", abort, { once: true });
  socket.connect(port, ip, (error?: NodeJS.ErrnoException) => {
    if (error) return end(localError(error.code));
    if (!open) return undefined;
    if (!egress.allowsAddress(peerOf(socket))) return end(refused);
    for (const at of SEND_AT_MS) if (at < waitMs) timers.push(setTimeout(send, at));
    timers.push(setTimeout(() => end(ok(SILENCE)), waitMs));
    return undefined;
  });
  return promise;
}

function answer(versions: readonly number[], rttMs: number): QuicProbe {
  const named = versions.filter((version) => !isReserved(version));
  return { reachable: true, versions: named.map((version) => `0x${version.toString(16).padStart(8, "0")}`), rttMs };
}

function peerOf(socket: Socket): string {
  return socket.remoteAddress().address;
}

/** Errors of this host that do not depend on the packet. */
const LOCAL = new Set(["ENETUNREACH", "EADDRNOTAVAIL", "ENOBUFS", "ENOMEM", "EPERM", "EACCES", "EINVAL", "EMSGSIZE"]);

function localError(code: string | undefined): Outcome<never> {
  return failed("connect", "probe", "local_error", `the probe could not send a datagram: ${code ?? "unknown"}`);
}

function cancelled(): Outcome<never> {
  return failed("connect", "probe", "cancelled", "the check ended before the QUIC probe completed");
}
