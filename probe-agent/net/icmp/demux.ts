import { addressBytes, sameAddress } from "#probe-agent/net/icmp/address.ts";
import type { RefusalRequest, TcpRefusal } from "#probe-agent/net/icmp/messages.ts";
import { UNUSED_ECHO_ID, parseIncoming, type IncomingEcho, type IncomingError } from "#probe-agent/net/icmp/packet.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** Source address and arrival time of a packet, in the process's monotonic milliseconds. */
export interface Arrival {
  readonly from: string;
  readonly at: number;
}

/** Receives the packets of one run. */
interface Listener {
  readonly onEcho?: (reply: IncomingEcho, arrival: Arrival) => void;
  readonly onError?: (error: IncomingError, arrival: Arrival) => void;
}

/** Passes each packet of the shared sockets to the run that caused it. */
export interface Demux {
  /** Reserves a random 16-bit echo id that no running job uses. `forget` frees it. */
  listenEcho(listener: Listener): { readonly id: number; readonly forget: () => void };
  /** Listens for errors that quote a UDP or TCP packet from this local port. */
  listenPort(protocol: "udp" | "tcp", port: number, listener: Listener): { readonly forget: () => void };
  /** Reports whether a run listens for errors of this local port. A second listener would replace it. */
  hasListener(protocol: "udp" | "tcp", port: number): boolean;
  /** Returns the error that answered a TCP segment of the kernel, or null if there is none among the newest errors. */
  findRefusal(request: RefusalRequest): TcpRefusal | null;
  /** Takes one packet from the ICMP socket of a family. */
  deliver(version: IpVersion, packet: Buffer, arrival: Arrival): void;
}

// Number of kept errors that answer the agent's own connections. The agent asks for them within a turn of its event
// loop.
const UNCLAIMED = 256;

/** Creates a demultiplexer without listeners. `randomId` returns 16 random bits. */
export function createDemux(randomId: () => number): Demux {
  const echoes = new Map<number, Listener>();
  const ports = { udp: new Map<number, Listener>(), tcp: new Map<number, Listener>() };
  const unclaimed: { readonly error: IncomingError; readonly from: string }[] = [];
  return {
    listenEcho(listener) {
      let id = randomId();
      while (id === UNUSED_ECHO_ID || echoes.has(id)) id = randomId();
      echoes.set(id, listener);
      return { id, forget: () => echoes.delete(id) };
    },
    listenPort(protocol, port, listener) {
      ports[protocol].set(port, listener);
      return { forget: () => ports[protocol].delete(port) };
    },
    hasListener: (protocol, port) => ports[protocol].has(port),
    findRefusal({ ip, port, localPort }) {
      const destination = addressBytes(ip);
      const found = unclaimed.findLast(
        ({ error: { quoted } }) =>
          quoted.protocol === "tcp" &&
          quoted.sourcePort === localPort &&
          quoted.destinationPort === port &&
          quoted.destination.equals(destination),
      );
      return found === undefined ? null : { from: found.from, type: found.error.type, code: found.error.code };
    },
    deliver(version, packet, arrival) {
      const incoming = parseIncoming(version, packet);
      if (incoming === null) return;
      if (incoming.kind === "echo") return echoes.get(incoming.id)?.onEcho?.(incoming, arrival);
      const { quoted } = incoming;
      const listener =
        quoted.protocol === "icmp" ? echoes.get(quoted.id) : ports[quoted.protocol].get(quoted.sourcePort);
      if (listener !== undefined) return listener.onError?.(incoming, arrival);
      if (quoted.protocol !== "tcp") return;
      unclaimed.push({ error: incoming, from: arrival.from });
      if (unclaimed.length > UNCLAIMED) unclaimed.shift();
    },
  };
}

/** Reports whether an answer came from the target itself. */
export function isFrom(target: string, arrival: Arrival): boolean {
  return sameAddress(target, arrival.from);
}
