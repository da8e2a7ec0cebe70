import { openPacketSocket, type PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { ProberTools, SegmentListener } from "#probe-agent/net/icmp/probers/prober.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/**
 * Creates the raw TCP socket that all TCP traces of a family share. It receives a copy of every segment of the host, so
 * it is open only while a trace needs it.
 */
export function createSharedTcp(version: IpVersion, clock: () => number): ProberTools["openTcp"] {
  const listeners = new Set<SegmentListener>();
  let opening: Promise<PacketSocket> | null = null;
  const release = (listener: SegmentListener): void => {
    listeners.delete(listener);
    if (listeners.size > 0 || opening === null) return;
    const closing = opening;
    opening = null;
    closing.then((socket) => socket.close()).catch(() => {});
  };
  return async (listener) => {
    listeners.add(listener);
    opening ??= openPacketSocket({
      version,
      protocol: "tcp",
      clock,
      onPacket: (packet, from, at) => listeners.forEach((each) => each(packet, { from, at })),
      // The running traces receive no more answers. The next trace opens a new socket.
      onLost: () => (opening = null),
    });
    try {
      return { socket: await opening, release: () => release(listener) };
    } catch (error) {
      listeners.delete(listener);
      opening = null;
      throw error;
    }
  };
}
