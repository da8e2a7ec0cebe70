import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import type { AgentIdentity } from "#test/support/enrol.ts";

/** How to connect to the agents' port: with or without an identity, or from another loopback address. */
export interface Approach {
  readonly port: number;
  readonly own?: AgentIdentity | null;
  readonly from?: string;
}

/** Resolves when either side has closed the connection. */
export function closing(socket: Socket | ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    socket.on("error", () => {});
    socket.once("close", () => resolve());
    if (socket.destroyed) resolve();
  });
}

/** Opens a TCP connection that sends nothing. */
export function openTcp({ port, from = "127.0.0.1" }: Approach): Socket {
  return connectTcp({ port, host: "127.0.0.1", localAddress: from })
    .on("error", () => {})
    .resume();
}

/** Opens a TLS connection that sends nothing after the handshake. */
export function openTls(approach: Approach): TLSSocket {
  const { own } = approach;
  return connectTls({
    socket: connectTcp({ port: approach.port, host: "127.0.0.1", localAddress: approach.from ?? "127.0.0.1" }),
    servername: CONTROL_PLANE_NAME,
    ALPNProtocols: ["h2"],
    rejectUnauthorized: false,
    ...(own ? { cert: own.certificate, key: own.privateKey } : {}),
  }).on("error", () => {});
}

/** Opens an HTTP/2 session that sends only its settings. */
export function openSession(approach: Approach): ClientHttp2Session {
  const socket = openTls(approach);
  return connectHttp2("https://control-plane", { createConnection: () => socket }).on("error", () => {});
}

/** Sends the headers of a gRPC call without a body. */
export function beginCall(session: ClientHttp2Session, path: string, more: object = {}): ClientHttp2Stream {
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...more };
  return session
    .request(headers)
    .on("error", () => {})
    .resume();
}

/** Builds a frame of RFC 9113, section 4.1. */
export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The connection preface of RFC 9113, section 3.4, with empty settings. */
export const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0)]);

/** Builds the header block (RFC 7541) of a gRPC call without table entries. */
export function headerBlock(path: string, filler = 0): Buffer {
  const text = (value: string): Buffer => {
    if (value.length < 127) return Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
    const [low, high] = [(value.length - 127) & 0x7f, (value.length - 127) >> 7];
    return Buffer.concat([Buffer.from(high === 0 ? [127, low] : [127, low | 0x80, high]), Buffer.from(value)]);
  };
  return Buffer.concat([
    // :method POST, :scheme https, then :path and content-type by the index of their names.
    Buffer.from([0x83, 0x87, 0x04]),
    text(path),
    // :authority, without which node:http2 refuses a stream before it is one.
    Buffer.from([0x01]),
    text("control-plane"),
    Buffer.from([0x0f, 0x10]),
    text("application/grpc"),
    Buffer.from([0x00]),
    text("x-filler"),
    text("x".repeat(filler)),
  ]);
}
