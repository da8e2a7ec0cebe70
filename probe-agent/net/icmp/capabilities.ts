import { openPacketSocket, type PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { Demux } from "#probe-agent/net/icmp/demux.ts";
import type { IcmpCapabilities } from "#probe-agent/net/icmp/messages.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** ICMP sockets of the process, one for each family that could be opened. */
export interface IcmpSockets {
  readonly capabilities: IcmpCapabilities;
  of(version: IpVersion): PacketSocket | null;
  close(): void;
}

/** Opens the sockets of both families. Failures are listed in `capabilities.missing` and never thrown. */
export async function openIcmpSockets(
  clock: () => number,
  demux: Demux,
  onLost: (message: string) => void,
): Promise<IcmpSockets> {
  const missing: string[] = [];
  const open = async (version: IpVersion): Promise<PacketSocket | null> => {
    try {
      return await openPacketSocket({
        version,
        protocol: "icmp",
        clock,
        onPacket: (packet, from, at) => demux.deliver(version, packet, { from, at }),
        onLost,
      });
    } catch (error) {
      missing.push(`ICMP over IPv${version}: ${whyNot(error)}`);
      return null;
    }
  };
  const sockets = { 4: await open(4), 6: await open(6) };
  return {
    capabilities: { v4: sockets[4] !== null, v6: sockets[6] !== null, missing },
    of: (version) => sockets[version],
    close() {
      sockets[4]?.close();
      sockets[6]?.close();
    },
  };
}

function whyNot(error: unknown): string {
  const message = error instanceof Error ? error.message : "unknown error";
  if (/not permitted/i.test(message)) return "raw sockets need CAP_NET_RAW";
  if (/Cannot find|NODE_MODULE_VERSION|dlopen|no such file/i.test(message))
    return "raw-socket is not built for this Node";
  return message;
}
