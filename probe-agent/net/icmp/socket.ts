import type { RawSocket } from "raw-socket";
import { echoRequest, NOBODY, WANTED_TYPES } from "#probe-agent/net/icmp/packet.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** When a packet left, by the process's monotonic milliseconds, or why it did not (a word of sendFailure). */
export type Sent = { readonly at: number } | { readonly reason: string; readonly message: string };

/** A raw socket that stamps each packet right before it leaves and right after it came. */
export interface PacketSocket {
  readonly version: IpVersion;
  /** Queues a packet. `sent` is called once, before any answer can be read. */
  send(packet: Buffer, ip: string, how: SendOptions, sent: (result: Sent) => void): void;
  /** Calls back once all that has arrived was read: a timer that is due may stand before unread answers. */
  whenDrained(then: () => void): void;
  close(): void;
}

/** What holds for one packet only. */
export interface SendOptions {
  /** TTL or hop limit. */
  readonly ttl: number;
  /** Nobody may fragment it, and what the kernel believes of the path's MTU is not asked. */
  readonly dontFragment?: boolean;
}

/** What a socket is opened for. */
export interface SocketOptions {
  readonly version: IpVersion;
  readonly protocol: "icmp" | "tcp";
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Each packet, copied; IPv4 with its IP header. */
  readonly onPacket: (packet: Buffer, from: string, at: number) => void;
  /** The socket is of no more use. */
  readonly onLost: (message: string) => void;
}

// Linux numbers that raw-socket does not export: raw(7), icmp6(7), socket(7), ipv6(7).
const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const SO_RCVBUFFORCE = 33;
const SOL_RAW = 255;
const ICMP_FILTER = 1;
const IPPROTO_ICMPV6 = 58;
const ICMP6_FILTER = 1;
const IPPROTO_IPV6 = 41;
const IPV6_CHECKSUM = 7;
const TCP_CHECKSUM_OFFSET = 16;
const TTL_OPTION = { 4: [0, 2], 6: [IPPROTO_IPV6, 16] } as const;
// IP_MTU_DISCOVER, IPV6_MTU_DISCOVER and IPV6_DONTFRAG: ip(7), ipv6(7); 3 is PROBE, 1 the default (WANT).
const MTU_DISCOVER = { 4: [0, 10], 6: [IPPROTO_IPV6, 23] } as const;
const IPV6_DONTFRAG = 62;
const [PMTUDISC_WANT, PMTUDISC_PROBE] = [1, 3];
const PROTOCOL = { 4: { icmp: 1, tcp: 6 }, 6: { icmp: IPPROTO_ICMPV6, tcp: 6 } } as const;

// Thousands of answers may wait while the process is not scheduled.
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
const SEND_STALLED_MS = 2_000;
const BUSY_RETRY_MS = 1;
const BUSY_RETRIES = 200;
const COLD_AFTER_MS = 2;
const MOST_DRAIN_ROUNDS = 20_000;
const LOOPBACK = { 4: "127.0.0.1", 6: "::1" } as const;

/** Opens a raw socket; throws where the package or the right (CAP_NET_RAW) is missing. */
export async function openPacketSocket(options: SocketOptions): Promise<PacketSocket> {
  const { default: raw } = await import("raw-socket");
  const { version, protocol, clock } = options;
  const socket = raw.createSocket({
    addressFamily: version === 4 ? 1 : 2,
    protocol: PROTOCOL[version][protocol],
    bufferSize: 65_536,
  });
  prepare(socket, version, protocol);
  let received = 0;
  let closed = false;
  let ttlNow = 0;
  let dontFragmentNow = false;
  let lastSentAt = -Infinity;
  const warmUp = echoRequest(version, NOBODY, 0, Buffer.alloc(56));
  const waiting = new Set<{ readonly since: number }>();
  const lose = (message: string): void => {
    if (closed) return;
    close();
    options.onLost(message);
  };
  // A send that never calls back means the descriptor is dead.
  const watchdog = setInterval(() => {
    for (const { since } of waiting) {
      if (clock() - since > SEND_STALLED_MS) return lose("a raw socket stopped sending");
      break;
    }
  }, SEND_STALLED_MS / 2);
  watchdog.unref();
  function close(): void {
    closed = true;
    clearInterval(watchdog);
    socket.close();
  }

  socket.on("message", (shared, from) => {
    const at = clock();
    received += 1;
    options.onPacket(Buffer.from(shared), from, at);
  });
  socket.on("error", (error) => {
    // Nothing to read after all, or an asynchronous ICMP error of an earlier send: the socket lives on.
    if (!/temporarily unavailable|unreachable|refused|No route/i.test(error.message)) lose(error.message);
  });

  /**
   * After a pause the way through kernel and runtime is out of the CPU's caches, which would show as 0.05 ms of RTT.
   * An echo to the own loopback, read before the next send and meant for nobody, walks that way first.
   */
  const warm = (): void => socket.send(warmUp, 0, warmUp.length, LOOPBACK[version], ignore, ignore);

  const attempt = (packet: Buffer, ip: string, how: SendOptions, sent: (result: Sent) => void, tries: number): void => {
    if (closed) return sent({ reason: "socket_lost", message: "the raw socket was lost" });
    const entry = { since: clock() };
    waiting.add(entry);
    let at = 0;
    if (entry.since - lastSentAt > COLD_AFTER_MS && waiting.size === 1 && protocol === "icmp") warm();
    socket.send(
      packet,
      0,
      packet.length,
      ip,
      () => {
        const { ttl, dontFragment = false } = how;
        if (ttl !== ttlNow) socket.setOption(TTL_OPTION[version][0], TTL_OPTION[version][1], ttl);
        ttlNow = ttl;
        if (dontFragment !== dontFragmentNow) setDontFragment(socket, version, dontFragment);
        dontFragmentNow = dontFragment;
        at = clock();
      },
      (error) => {
        waiting.delete(entry);
        lastSentAt = at;
        if (error === null) return sent({ at });
        const failure = sendFailure(error.message);
        if (failure !== "busy") return sent({ reason: failure, message: error.message });
        if (tries >= BUSY_RETRIES) return sent({ reason: "send_failed", message: error.message });
        setTimeout(attempt, BUSY_RETRY_MS, packet, ip, how, sent, tries + 1);
      },
    );
  };

  return {
    version,
    send: (packet, ip, how, sent) => attempt(packet, ip, how, sent, 0),
    whenDrained: (then) => drain(() => received, then),
    close: () => {
      if (!closed) close();
    },
  };
}

function setDontFragment(socket: RawSocket, version: IpVersion, on: boolean): void {
  socket.setOption(MTU_DISCOVER[version][0], MTU_DISCOVER[version][1], on ? PMTUDISC_PROBE : PMTUDISC_WANT);
  if (version === 6) socket.setOption(IPPROTO_IPV6, IPV6_DONTFRAG, on ? 1 : 0);
}

function ignore(): void {}

/** One packet is read per turn of the loop; two turns without one mean that none is left. */
function drain(received: () => number, then: () => void): void {
  let seen = received();
  let quiet = 0;
  let rounds = 0;
  const look = (): void => {
    quiet = received() === seen ? quiet + 1 : 0;
    seen = received();
    rounds += 1;
    if (quiet >= 2 || rounds >= MOST_DRAIN_ROUNDS) then();
    else setImmediate(look);
  };
  setImmediate(look);
}

function prepare(socket: RawSocket, version: IpVersion, protocol: "icmp" | "tcp"): void {
  try {
    socket.setOption(SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES);
  } catch {
    // Without CAP_NET_ADMIN the system's limit holds.
    socket.setOption(SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES);
  }
  if (protocol === "tcp") {
    if (version === 6) socket.setOption(IPPROTO_IPV6, IPV6_CHECKSUM, TCP_CHECKSUM_OFFSET);
    return;
  }
  // In both filters a set bit drops the type; our own echo requests on loopback would else come back.
  if (version === 4) {
    socket.setOption(SOL_RAW, ICMP_FILTER, WANTED_TYPES[4].reduce((mask, type) => mask & ~(1 << type), -1) >>> 0);
    return;
  }
  const filter = Buffer.alloc(32, 0xff);
  for (const type of WANTED_TYPES[6]) {
    const word = new Uint32Array(filter.buffer, filter.byteOffset, 8);
    word[type >> 5] = (word[type >> 5] ?? 0) & ~(1 << (type & 31));
  }
  socket.setOption(IPPROTO_ICMPV6, ICMP6_FILTER, filter, filter.length);
}

/** A stable word for strerror's text of sendto(2); "busy" passes by itself. */
function sendFailure(message: string): string {
  if (/temporarily unavailable|No buffer space/i.test(message)) return "busy";
  if (/Network is unreachable|Cannot assign requested address/i.test(message)) return "network_unreachable";
  if (/No route to host/i.test(message)) return "host_unreachable";
  if (/not permitted|Permission denied/i.test(message)) return "not_permitted";
  if (/Message too long/i.test(message)) return "message_too_long";
  return "send_failed";
}
