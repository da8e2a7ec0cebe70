import { createPacketSender, type SendOptions, type Sent } from "#probe-agent/net/icmp/packet-sender.ts";
import { isFatal } from "#probe-agent/net/icmp/send-failure.ts";
import { prepareSocket, PROTOCOL } from "#probe-agent/net/icmp/socket-options.ts";
import { createStallCheck } from "#probe-agent/net/icmp/stall.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** A raw socket that records the time right before each packet leaves and right after one arrives. */
export interface PacketSocket {
  readonly version: IpVersion;
  /** Queues a packet. `sent` is called once, before any answer can be read. */
  send(packet: Buffer, ip: string, how: SendOptions, sent: (result: Sent) => void): void;
  /** Calls back after all packets that have arrived are read. A timer can fire before answers that wait unread. */
  whenDrained(then: () => void): void;
  close(): void;
}

/** Options of a raw socket. */
interface SocketOptions {
  readonly version: IpVersion;
  readonly protocol: "icmp" | "tcp";
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Receives a copy of each packet. IPv4 includes the IP header. */
  readonly onPacket: (packet: Buffer, from: string, at: number) => void;
  /** Called once if the socket fails. */
  readonly onLost: (message: string) => void;
}

const LOOK_MS = 1_000;

const MOST_ROUNDS = 20_000;

/** Opens a raw socket. Throws if the package or the right (CAP_NET_RAW) is missing. */
export async function openPacketSocket(options: SocketOptions): Promise<PacketSocket> {
  const { default: raw } = await import("raw-socket");
  const { version, protocol, clock } = options;
  const socket = raw.createSocket({
    addressFamily: version === 4 ? 1 : 2,
    protocol: PROTOCOL[version][protocol],
    bufferSize: 65_536,
  });
  prepareSocket(socket, version, protocol);
  const sender = createPacketSender({ socket, version, clock, warmsUp: protocol === "icmp" });
  let received = 0;
  let closed = false;

  const close = (): void => {
    if (closed) return;
    closed = true;
    clearInterval(watchdog);
    sender.close();
    socket.close();
  };
  const lose = (message: string): void => {
    if (closed) return;
    close();
    options.onLost(message);
  };
  // A send that never calls back means that the descriptor is dead.
  const isStalled = createStallCheck();
  const watchdog = setInterval(() => {
    if (isStalled(sender.pendingSince())) lose("a raw socket stopped sending");
  }, LOOK_MS);
  watchdog.unref();

  socket.on("message", (shared, from) => {
    const at = clock();
    received += 1;
    options.onPacket(Buffer.from(shared), from, at);
  });
  socket.on("error", (error) => {
    if (isFatal(error.message)) lose(error.message);
  });
  return {
    version,
    send: (packet, ip, how, sent) => sender.send(packet, ip, how, sent),
    whenDrained: (then) => drain(() => received, then),
    close,
  };
}

/**
 * Calls back after the socket has nothing left to read. `received` returns how many packets it has read. One packet is
 * read per turn of the event loop, so after two turns without a packet none is left.
 */
function drain(received: () => number, then: () => void): void {
  let seen = received();
  let quiet = 0;
  let rounds = 0;
  const check = (): void => {
    quiet = received() === seen ? quiet + 1 : 0;
    seen = received();
    rounds += 1;
    if (quiet >= 2 || rounds >= MOST_ROUNDS) then();
    else setImmediate(check);
  };
  setImmediate(check);
}
