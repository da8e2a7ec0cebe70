import { connect, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import type { Failed } from "#shared/contracts/outcome.ts";
import { startStream } from "#probe-agent/net/http2-stream.ts";
import { MAX_INFORMATIONAL } from "#probe-agent/net/http/exchange.ts";
import { headersOverflow, streamFailure } from "#probe-agent/net/http/http2.ts";
import { tooManyInformational } from "#probe-agent/net/http/http1.ts";
import type { RawHeader } from "#probe-agent/net/http/header-text.ts";
import { MAX_HEAD_BYTES, MAX_HEADER_LINES } from "#probe-agent/net/http/response-head.ts";
import { createOctets } from "#probe-agent/net/octets.ts";
import type { Http2Answer, Http2Request } from "#probe-agent/port/stream.ts";

/** Maximum memory of a session, in megabytes. */
const MAX_SESSION_MB = 2;

/**
 * Sends one POST on a connection and reads head, body and trailers. The window is that of the protocol's default (RFC
 * 9113 section 6.5.2), so that no more than 64 KB are on their way. Node ends sessions with too many settings, pings and
 * CONTINUATION frames. Destroying the socket with an error (as the deadline does) ends every wait. `where` names the
 * peer in messages. `onReset` is called with the error code before a failure by RST_STREAM (RFC 9113 section 6.4).
 */
export function exchangeOnce(
  socket: Socket,
  scheme: "http" | "https",
  request: Http2Request,
  where: string,
  onReset: (code: number) => void = () => undefined,
): Promise<Http2Answer | Failed> {
  const { promise, resolve } = Promise.withResolvers<Http2Answer | Failed>();
  if (socket.destroyed) return Promise.resolve(streamFailure(socket.errored ?? { code: "ECONNRESET" }, where));
  const session = connect(`${scheme}://${request.authority}`, {
    createConnection: () => socket,
    settings: { enablePush: false, maxHeaderListSize: MAX_HEAD_BYTES },
    maxHeaderListPairs: MAX_HEADER_LINES,
    maxSessionMemory: MAX_SESSION_MB,
  });
  const settle = (answer: Http2Answer | Failed): void => {
    resolve(answer);
    session.destroy();
  };
  const fail = (error: unknown): void => {
    const code = stream.rstCode ?? 0;
    // A stream of a connection that closes gets the code CANCEL from Node.
    if (code !== 0 && !session.destroyed && !socket.destroyed) onReset(code);
    settle(streamFailure(socket.errored ?? error, where));
  };
  const body = createOctets();
  let head: { readonly code: number; readonly headers: readonly RawHeader[] } | null = null;
  let trailers: readonly RawHeader[] = [];
  let informational = 0;
  const finish = (truncated: boolean): void => {
    if (head === null) fail({ code: "RST_0" });
    else settle({ ...head, body: body.view().subarray(0, request.maxBodyBytes), truncated, trailers });
  };

  const stream = startStream(session, fieldsOf(request, scheme), { endStream: false });
  stream.end(request.body);
  stream.on("headers", () => {
    informational += 1;
    if (informational > MAX_INFORMATIONAL) settle(tooManyInformational(where));
  });
  stream.once("response", (_named, _flags, raw?: unknown) => {
    const fields = readFields(raw);
    if (fields === null) settle(headersOverflow(where));
    else {
      const headers = fields.filter(([name]) => name !== ":status");
      head = { code: Number(fields.find(([name]) => name === ":status")?.[1] ?? 0), headers };
    }
  });
  stream.on("trailers", (_named: IncomingHttpHeaders, _flags: number, raw?: unknown) => {
    const fields = readFields(raw);
    if (fields === null) settle(headersOverflow(where));
    else trailers = fields;
  });
  stream.on("data", (chunk: Buffer) => {
    body.append(chunk);
    if (body.length > request.maxBodyBytes) finish(true);
  });
  // The listeners for errors stay: a late error without one would end the process.
  stream.on("error", fail);
  session.on("error", fail);
  stream.once("end", () => {
    // A stream of a connection that closes ends without an error; Node then gives it the code CANCEL.
    if ((stream.rstCode ?? 0) === 0 && !session.destroyed && socket.errored === null) finish(false);
  });
  stream.once("close", () => fail({ code: `RST_${stream.rstCode ?? 0}` }));
  return promise;
}

/** Returns the fields of a request with the pseudo-header fields of RFC 9113 section 8.3.1. Repeated ones are lists. */
function fieldsOf({ authority, path, headers }: Http2Request, scheme: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {
    ":method": "POST",
    ":scheme": scheme,
    ":authority": authority,
    ":path": path,
  };
  for (const [name, value] of headers) {
    const earlier = fields[name];
    fields[name] = earlier === undefined ? value : [...(Array.isArray(earlier) ? earlier : [earlier]), value];
  }
  return fields;
}

/** Converts Node's flat list [name, value, ...]; null if it is larger than the limit, which Node lets through. */
function readFields(raw: unknown): readonly RawHeader[] | null {
  const flat = raw as readonly string[];
  if (flat.reduce((sum, text) => sum + text.length, 0) > MAX_HEAD_BYTES) return null;
  return Array.from({ length: flat.length >> 1 }, (_, at) => [flat[2 * at] ?? "", flat[2 * at + 1] ?? ""] as const);
}
