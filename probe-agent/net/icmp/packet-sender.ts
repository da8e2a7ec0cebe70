import type { RawSocket } from "raw-socket";
import { echoRequest, UNUSED_ECHO_ID } from "#probe-agent/net/icmp/packet.ts";
import { sendFailure } from "#probe-agent/net/icmp/send-failure.ts";
import { withIpHeader } from "#probe-agent/net/icmp/ip-header.ts";
import { setDontFragment, setHeaderIncluded, setTtl } from "#probe-agent/net/icmp/socket-options.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** Time at which a packet left, in the process's monotonic milliseconds, or why it did not (a word of sendFailure). */
export type Sent = { readonly at: number } | { readonly reason: string; readonly message: string };

/** Options of one packet. */
export interface SendOptions {
  /** TTL or hop limit. */
  readonly ttl: number;
  /** Forbids fragmentation, and ignores the kernel's estimate of the path's MTU. */
  readonly dontFragment?: boolean;
  /** Address of this host to send from, for ICMP. Default: the kernel chooses. */
  readonly source?: string;
}

/** Sends packets through one raw socket, and records the time right before each packet leaves. */
interface PacketSender {
  send(packet: Buffer, ip: string, how: SendOptions, sent: (result: Sent) => void): void;
  /** Start of the oldest unfinished send in monotonic milliseconds. Null if all are finished. */
  pendingSince(): number | null;
  /** Makes all later sends fail. */
  close(): void;
}

/** The socket of a sender. */
interface SenderOptions {
  readonly socket: RawSocket;
  readonly version: IpVersion;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Whether to send an echo to the loopback first after a pause. */
  readonly warmsUp: boolean;
}

const BUSY_RETRY_MS = 1;
const BUSY_RETRIES = 200;
const COLD_AFTER_MS = 2;
const LOOPBACK = { 4: "127.0.0.1", 6: "::1" } as const;

/** Creates the sender of a socket that has no TTL and no fragmentation option set so far. */
export function createPacketSender({ socket, version, clock, warmsUp }: SenderOptions): PacketSender {
  const warmUp = echoRequest(version, UNUSED_ECHO_ID, 0, Buffer.alloc(56));
  const waiting = new Set<{ readonly since: number }>();
  let closed = false;
  let ttlNow = 0;
  let dontFragmentNow = false;
  let lastSentAt = -Infinity;

  /**
   * Sends an echo to the loopback after a pause, and ignores its reply. After a pause, the code path through kernel and
   * runtime is not in the CPU's caches, which adds 0.05 ms to an RTT. The echo fills them before the next send.
   */
  const warm = (): void => socket.send(warmUp, 0, warmUp.length, LOOPBACK[version], ignore, ignore);

  const apply = ({ ttl, dontFragment = false }: SendOptions): void => {
    if (ttl !== ttlNow) setTtl(socket, version, ttl);
    ttlNow = ttl;
    if (dontFragment !== dontFragmentNow) setDontFragment(socket, version, dontFragment);
    dontFragmentNow = dontFragment;
  };

  const attempt = (packet: Buffer, ip: string, how: SendOptions, sent: (result: Sent) => void, tries: number): void => {
    if (closed) return sent({ reason: "socket_lost", message: "the raw socket was lost" });
    const entry = { since: clock() };
    waiting.add(entry);
    let at = 0;
    if (warmsUp && entry.since - lastSentAt > COLD_AFTER_MS && waiting.size === 1) warm();
    const { source } = how;
    const whole = source === undefined ? packet : withIpHeader(version, packet, { ...how, source, destination: ip });
    let included = false;
    const before = (): void => {
      apply(how);
      if (source !== undefined) setHeaderIncluded(socket, version, true);
      included = source !== undefined;
      at = clock();
    };
    const after = (error: Error | null): void => {
      if (included) setHeaderIncluded(socket, version, false);
      waiting.delete(entry);
      lastSentAt = at;
      if (error === null) return sent({ at });
      const failure = sendFailure(error.message);
      if (failure !== "busy") return sent({ reason: failure, message: error.message });
      if (tries >= BUSY_RETRIES) return sent({ reason: "send_failed", message: error.message });
      setTimeout(attempt, BUSY_RETRY_MS, packet, ip, how, sent, tries + 1);
    };
    socket.send(whole, 0, whole.length, ip, before, after);
  };

  return {
    send: (packet, ip, how, sent) => attempt(packet, ip, how, sent, 0),
    pendingSince() {
      for (const { since } of waiting) return since;
      return null;
    },
    close: () => {
      closed = true;
    },
  };
}

function ignore(): void {}
