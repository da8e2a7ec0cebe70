import { once } from "node:events";
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { decodeMessage } from "#probe-agent/dns-codec/message.ts";
import { nameToText } from "#probe-agent/dns-codec/names.ts";
import { typeName } from "#shared/internet/dns-registry.ts";
import { writeReplies, type Behaviour, type Query } from "#test/servers/dns-reply.ts";
import type { ZoneAnswer, Zones } from "#test/servers/dns-zones.ts";

/** What a test DNS server knows and how it misbehaves. */
export interface DnsServerOptions {
  readonly zones?: Zones;
  /** By lower-case name, `name/TYPE` or `*`, the most specific one counts. */
  readonly behaviours?: Readonly<Record<string, Behaviour>>;
  /** A record that negative answers to queries with DO contain, owned by the queried name. */
  readonly denial?: { readonly type: string; readonly data: string };
  /** Answers in place of `zones`, DNSSEC records included. */
  readonly answer?: (name: string, type: string, query: Query) => ZoneAnswer;
  /** Default: recursive (RA, no AA). */
  readonly authoritative?: boolean;
  /** Address to listen on, default 127.0.0.1. */
  readonly host?: string;
  /** Default a free one. */
  readonly port?: number;
}

/** A running test DNS server on one UDP and TCP port. */
export interface DnsServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  readonly port: number;
  /** All received queries, in order. */
  readonly queries: readonly Query[];
  close(): Promise<void>;
}

/** Starts a DNS server on a free port, UDP and TCP. */
export async function startDnsServer(options: DnsServerOptions = {}): Promise<DnsServer> {
  const host = options.host ?? "127.0.0.1";
  const queries: Query[] = [];
  const { tcp, udp } = await listen(host, options.port ?? 0);
  const strays = createSocket(familyOf(host)).bind(0, host);
  const timers = new Set<NodeJS.Timeout>();

  const sockets = new Set<Socket>();

  /** Logs the query and has `send` called for each reply when its time has come; false for what is no query. */
  const answer = (bytes: Uint8Array, transport: Query["transport"], from: Sender, send: Send): boolean => {
    const query = readQuery(bytes, transport, from);
    if (query === null) return false;
    queries.push(query);
    const { delayMs, replies } = writeReplies(options, query, queries);
    const timer = setTimeout(() => {
      timers.delete(timer);
      for (const reply of replies) send(reply.bytes, reply.fromElsewhere);
    }, delayMs);
    timers.add(timer);
    return true;
  };

  udp.on("message", (bytes: Buffer, from: RemoteInfo) => {
    answer(bytes, "udp", from, (reply, fromElsewhere) => {
      (fromElsewhere ? strays : udp).send(reply, from.port, from.address);
    });
  });
  tcp.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const from = { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
    const send: Send = (reply) => socket.write(Buffer.concat([Buffer.of(reply.length >>> 8, reply.length), reply]));
    let held = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const end = 2 + held.readUInt16BE(0);
        if (!answer(held.subarray(2, end), "tcp", from, send)) socket.destroy();
        held = held.subarray(end);
      }
    });
  });
  const { port } = udp.address();
  return {
    address: `${host}:${port}`,
    port,
    queries,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      strays.close();
      udp.close();
      tcp.close();
      await once(tcp, "close");
    },
  };
}

type Send = (reply: Uint8Array, fromElsewhere: boolean) => void;
type Sender = Pick<RemoteInfo, "address" | "port">;

function familyOf(host: string): "udp4" | "udp6" {
  return host.includes(":") ? "udp6" : "udp4";
}

/** The same free port for both transports; UDP may be taken where TCP is free, so it is tried again. */
async function listen(host: string, port: number): Promise<{ tcp: Server; udp: UdpSocket }> {
  for (let attempt = 0; ; attempt += 1) {
    const tcp = createServer().listen(port, host);
    await once(tcp, "listening");
    const udp = createSocket(familyOf(host)).bind((tcp.address() as AddressInfo).port, host);
    try {
      await once(udp, "listening");
      return { tcp, udp };
    } catch (error) {
      tcp.close();
      if (attempt === 9) throw error;
    }
  }
}

function readQuery(bytes: Uint8Array, transport: Query["transport"], { address, port }: Sender): Query | null {
  try {
    const message = decodeMessage(bytes);
    const [question] = message.questions;
    if (question === undefined) return null;
    const { name, type } = question;
    return { name: nameToText(name), type: typeName(type), transport, sourceIp: address, sourcePort: port, message };
  } catch {
    return null;
  }
}
