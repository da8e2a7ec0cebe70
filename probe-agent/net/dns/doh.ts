import { request as http1Request, type IncomingMessage } from "node:http";
import { connect as http2Connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { dialEncrypted, type EncryptedServer } from "#probe-agent/net/dns/encrypted.ts";
import { startStream } from "#probe-agent/net/http2-stream.ts";
import { awaitExchange, errorReason, type Exchange, type ExchangeRequest } from "#probe-agent/net/dns/exchange.ts";

const MEDIA_TYPE = "application/dns-message";
/** Maximum length of a DNS message over a stream (RFC 1035 section 4.2.2). */
const MAX_MESSAGE_BYTES = 65_535;

/** Sends one query by POST over its own connection (RFC 8484), HTTP/2 or, if the server requires it, HTTP/1.1. */
export function exchangeDoh(
  server: EncryptedServer,
  request: ExchangeRequest,
  roots?: readonly string[],
): Promise<Exchange> {
  if (request.signal.aborted) return Promise.resolve({ kind: "silence" });
  const startedAt = request.clock.monotonic();
  let connectMs = 0;
  const socket = dialEncrypted(server, ["h2", "http/1.1"], roots);
  let session: ClientHttp2Session | null = null;
  const { result, finish } = awaitExchange(request, () => {
    session?.destroy();
    socket.destroy();
  });
  const fail = (error: Error): void => finish({ kind: "unreachable", reason: errorReason(error) });
  const read = (status: number, type: string, body: Readable): void => {
    // RFC 8484 section 4.2.1: only 2xx responses carry DNS; an error page or a captive portal does not.
    if (status < 200 || status > 299) return finish({ kind: "unreachable", reason: `http_status_${status}` });
    if (!type.toLowerCase().startsWith(MEDIA_TYPE)) return finish({ kind: "unreachable", reason: "http_media_type" });
    collect(body, (bytes) => {
      const taken = bytes !== null && request.accept(bytes);
      finish(
        taken
          ? { kind: "reply", bytes, rttMs: request.clock.monotonic() - startedAt, connectMs }
          : { kind: "unreachable", reason: "no_answer_in_body" },
      );
    });
  };
  socket.on("error", fail);
  socket.on("close", () => finish({ kind: "unreachable", reason: "closed" }));
  socket.once("secureConnect", () => {
    connectMs = request.clock.monotonic() - startedAt;
    if (socket.alpnProtocol === "h2") session = postHttp2(socket, server, request.query, read, fail);
    else postHttp1(socket, server, request.query, read, fail);
  });
  return result;
}

type Read = (status: number, type: string, body: Readable) => void;

function authorityOf({ ip, port, name }: EncryptedServer): string {
  const host = name ?? ip;
  const bracketed = host.includes(":") ? `[${host}]` : host;
  return port === 443 ? bracketed : `${bracketed}:${port}`;
}

function postHttp2(
  socket: TLSSocket,
  server: EncryptedServer,
  query: Uint8Array,
  read: Read,
  fail: (error: Error) => void,
): ClientHttp2Session {
  const session = http2Connect(`https://${authorityOf(server)}`, { createConnection: () => socket });
  session.on("error", fail);
  const fields = {
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: server.path,
    accept: MEDIA_TYPE,
    "content-type": MEDIA_TYPE,
    "content-length": query.length,
  };
  const stream = startStream(session, fields, {});
  stream.on("error", fail);
  stream.on("response", (headers: IncomingHttpHeaders & { ":status"?: number }) => {
    read(headers[":status"] ?? 0, headers["content-type"] ?? "", stream);
  });
  stream.end(query);
  return session;
}

function postHttp1(
  socket: TLSSocket,
  server: EncryptedServer,
  query: Uint8Array,
  read: Read,
  fail: (error: Error) => void,
): void {
  const outgoing = http1Request({
    createConnection: () => socket,
    method: "POST",
    path: server.path,
    headers: {
      host: authorityOf(server),
      accept: MEDIA_TYPE,
      "content-type": MEDIA_TYPE,
      "content-length": query.length,
      connection: "close",
    },
  });
  outgoing.on("error", fail);
  outgoing.on("response", (response: IncomingMessage) => {
    read(response.statusCode ?? 0, response.headers["content-type"] ?? "", response);
  });
  outgoing.end(query);
}

/** Reads the whole body. Null if it is longer than a DNS message can be. */
function collect(body: Readable, done: (bytes: Uint8Array | null) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  body.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_MESSAGE_BYTES) done(null);
    else chunks.push(chunk);
  });
  body.on("end", () => done(length > MAX_MESSAGE_BYTES ? null : Uint8Array.from(Buffer.concat(chunks))));
}
