import { once } from "node:events";
import { createSocket, type RemoteInfo } from "node:dgram";

/** How the server answers a datagram that could begin a connection. */
export type QuicBehaviour =
  /** Version Negotiation with both identifiers swapped (RFC 9000 section 17.2.1). */
  | "honest"
  /** The identifiers in the order of arrival. */
  | "unswapped"
  /** Identifiers of nobody. */
  | "stranger"
  /** Half an entry too many in the list. */
  | "ragged"
  | "no_versions"
  /** The list names the version that was asked with (section 6.2). */
  | "echoes_version"
  /** The honest answer, but from another port. */
  | "elsewhere"
  /** 16,000 versions, 64 KB. */
  | "giant"
  /** Octets that are no QUIC. */
  | "noise"
  /** A length octet that points beyond the end. */
  | "cut"
  /** Nothing for the first datagram, then honest. */
  | "second"
  | "silent";

/** A running server. */
export interface QuicServer {
  readonly port: number;
  /** Received datagrams, in order. */
  readonly received: readonly Uint8Array[];
  close(): Promise<void>;
}

/** Starts a UDP server that knows nothing of QUIC but the negotiation of versions. */
export async function startQuicServer(
  options: {
    readonly behaviour?: QuicBehaviour;
    /** Default version 1 and 2. */
    readonly versions?: readonly number[];
    /** Default 127.0.0.1. */
    readonly host?: string;
    readonly port?: number;
  } = {},
): Promise<QuicServer> {
  const { behaviour = "honest", versions = [0x00000001, 0x6b3343cf], host = "127.0.0.1" } = options;
  const family = host.includes(":") ? "udp6" : "udp4";
  const received: Uint8Array[] = [];
  const socket = createSocket(family).bind(options.port ?? 0, host);
  const other = createSocket(family).bind(0, host);
  await Promise.all([once(socket, "listening"), once(other, "listening")]);
  socket.on("message", (datagram: Buffer, from: RemoteInfo) => {
    received.push(datagram);
    const reply = answerTo(datagram, behaviour, versions, received.length);
    if (reply !== null) (behaviour === "elsewhere" ? other : socket).send(reply, from.port, from.address);
  });
  return {
    port: socket.address().port,
    received,
    async close() {
      await Promise.all([socket, other].map((open) => new Promise<void>((resolve) => open.close(() => resolve()))));
    },
  };
}

function answerTo(
  datagram: Buffer,
  behaviour: QuicBehaviour,
  versions: readonly number[],
  nth: number,
): Uint8Array | null {
  const isLongHeader = (datagram[0] ?? 0) >= 0x80;
  if (behaviour === "silent" || (behaviour === "second" && nth === 1)) return null;
  if (behaviour === "noise") return Buffer.from("not QUIC at all");
  if (!isLongHeader || datagram.length < 1200) return null;
  const version = datagram.readUInt32BE(1);
  const destination = datagram.subarray(6, 6 + (datagram[5] ?? 0));
  const lengthAt = 6 + destination.length;
  const source = datagram.subarray(lengthAt + 1, lengthAt + 1 + (datagram[lengthAt] ?? 0));
  if (behaviour === "cut") return Buffer.from([0x80, 0, 0, 0, 0, 255, 1]);
  const swapped = behaviour === "unswapped" ? [destination, source] : [source, destination];
  const [to = source, by = destination] =
    behaviour === "stranger" ? swapped.map((id) => Buffer.alloc(id.length, 7)) : swapped;
  const listed = {
    no_versions: [],
    echoes_version: [...versions, version],
    giant: Array.from({ length: 16_000 }, (_, index) => 0xff000000 + index),
  }[behaviour as string];
  const list = Buffer.concat((listed ?? versions).map((entry) => fourOctets(entry)));
  const ragged = behaviour === "ragged" ? [Buffer.from([0, 1])] : [];
  return Buffer.concat([Buffer.from([0x80, 0, 0, 0, 0, to.length]), to, Buffer.from([by.length]), by, list, ...ragged]);
}

function fourOctets(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value >>> 0);
  return octets;
}
