import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from "node:http2";
import type { Socket } from "node:net";
import { failed, type Failed } from "#shared/contracts/outcome.ts";
import { headerElements } from "#probe-agent/analysis/http/header-list.ts";
import { createArrivals } from "#probe-agent/net/http/arrivals.ts";
import { createBodyCollector } from "#probe-agent/net/http/body.ts";
import {
  MAX_INFORMATIONAL,
  startPatience,
  type Exchange,
  type ExchangeContext,
} from "#probe-agent/net/http/exchange.ts";
import { bodyBreak, errorCode, exchangeFailure } from "#probe-agent/net/http/failure.ts";
import { bodyFraming, hasBody } from "#probe-agent/net/http/framing.ts";
import type { RawHeader } from "#probe-agent/net/http/header-text.ts";
import { tooManyInformational } from "#probe-agent/net/http/http1.ts";
import { startStream } from "#probe-agent/net/http2-stream.ts";
import { http2Request, type WireRequest } from "#probe-agent/net/http/request.ts";
import {
  HEAD_TOO_LARGE,
  MAX_HEAD_BYTES,
  MAX_HEADER_LINES,
  type ResponseHead,
} from "#probe-agent/net/http/response-head.ts";

/** Maximum octets in flight: enough for a distant server, few enough for a hostile one. */
const WINDOW_BYTES = 1 << 20;

const PROTOCOL_ERROR = constants.NGHTTP2_PROTOCOL_ERROR;

/**
 * Sends one request over HTTP/2, negotiated by ALPN or by prior knowledge (RFC 9113 section 3.3). Destroying the socket
 * with an error ends every wait.
 */
export async function exchangeHttp2(
  socket: Socket,
  request: WireRequest,
  context: ExchangeContext,
): Promise<Exchange | Failed> {
  if (socket.destroyed) return streamFailure(socket.errored ?? { code: "ECONNRESET" }, context.where);
  const session = connect(request.url.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEAD_BYTES },
    maxHeaderListPairs: MAX_HEADER_LINES,
    maxSessionMemory: 4,
  });
  session.once("connect", () => session.setLocalWindowSize(WINDOW_BYTES));
  const stream = startStream(session, http2Request(request), { endStream: request.body === null });
  if (request.body !== null) stream.end(request.body);
  const source = createArrivals(stream);
  const head = await responseOf(session, stream, socket, context);
  if (head.status === "failed") {
    session.destroy();
    return head;
  }
  return { status: "ok", ...head.value, close: () => session.destroy(), readBody };

  async function readBody(maxBytes: number, patienceMs?: number): ReturnType<Exchange["readBody"]> {
    const headers = head.status === "failed" ? [] : head.value.head.headers;
    const collector = context.collect?.() ?? createBodyCollector(headerElements(headers, "content-encoding"), maxBytes);
    const patience = startPatience(patienceMs, () => session.destroy());
    const ended = async (error: string | null): ReturnType<Exchange["readBody"]> => ({
      status: "ok",
      body: await collector.finish(patience.isOver() ? "timeout" : error),
    });
    const broken = async (error: unknown): ReturnType<Exchange["readBody"]> => {
      const fault = bodyBreak(error);
      if (fault === "timeout" && !patience.isOver()) return exchangeFailure(error, "response", context.where);
      // nghttp2 resets a stream whose octets are not as many as announced (RFC 9113 section 8.1.1).
      const malformed = errorCode(error) === "ERR_HTTP2_STREAM_ERROR" && stream.rstCode === PROTOCOL_ERROR;
      return await ended(malformed ? (left > 0 ? "incomplete" : "protocol_error") : fault);
    };
    let left = 0;
    try {
      if (head.status === "ok" && hasBody(request.method, head.value.head.code)) {
        const { framing } = bodyFraming(request.method, head.value.head);
        left = framing.kind === "length" ? framing.bytes : 0;
        for (let chunk = await source.next(); chunk !== null; chunk = await source.next()) {
          left -= chunk.length;
          await collector.write(chunk);
          if (collector.full()) break;
        }
      }
      if (collector.full()) return await ended(null);
      if (socket.errored !== null) return await broken(socket.errored);
      // A connection that closes during a stream, and a stream that is reset with CANCEL, end the stream without an
      // error. Node then gives the stream of a closed connection the code CANCEL too.
      const isReset = (stream.rstCode ?? 0) !== 0;
      if (isReset && !session.destroyed) return await ended("reset");
      return await ended(isReset || left > 0 ? "incomplete" : null);
    } catch (error) {
      return await broken(socket.errored ?? error);
    } finally {
      patience.end();
      session.destroy();
    }
  }
}

interface ResponseStart {
  readonly head: ResponseHead;
  readonly firstByteAt: number;
  readonly informational: readonly number[];
}

function responseOf(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  socket: Socket,
  context: ExchangeContext,
): Promise<Failed | { readonly status: "ok"; readonly value: ResponseStart }> {
  return new Promise((resolve) => {
    const informational: number[] = [];
    const fail = (error: unknown) => resolve(streamFailure(socket.errored ?? error, context.where));
    stream.on("headers", (fields: IncomingHttpHeaders) => {
      informational.push(Number(fields[":status"]));
      if (informational.length > MAX_INFORMATIONAL) resolve(tooManyInformational(context.where));
    });
    stream.once("response", (_named, _flags, raw?: unknown) => {
      const firstByteAt = context.clock.monotonic();
      const fields = raw as readonly string[];
      // Node tells the server the limit but lets more through.
      if (fields.reduce((sum, text) => sum + text.length, 0) > MAX_HEAD_BYTES) resolve(headersOverflow(context.where));
      else resolve({ status: "ok", value: { head: headOf(fields), firstByteAt, informational } });
    });
    // Both listeners stay: a late error without one would end the process.
    stream.on("error", fail);
    session.on("error", fail);
    stream.once("close", () => fail({ code: `RST_${stream.rstCode ?? 0}` }));
  });
}

/** Converts Node's flat list [name, value, ...], in wire order, to fields. */
function headOf(raw: readonly string[]): ResponseHead {
  const headers: RawHeader[] = [];
  let code = 0;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const value = raw[at + 1] ?? "";
    if (name === ":status") code = Number(value);
    else headers.push([name, value]);
  }
  return { version: "2", code, statusText: "", headers, faults: code > 599 ? ["status_code_out_of_range"] : [] };
}

/** Returns the failure of a header section that is too large. */
export function headersOverflow(where: string): Failed {
  return failed("response", "target", "headers_overflow", `${where}: ${HEAD_TOO_LARGE}`);
}

/**
 * Returns the failure of a stream, by the error codes of RFC 9113 section 7. They are in the code of the reset, or only
 * in Node's message: Node has one error code for all of them.
 */
export function streamFailure(error: unknown, where: string): Failed {
  const code = errorCode(error);
  const text = error instanceof Error ? error.message : code;
  const is = (name: keyof typeof constants & `NGHTTP2_${string}`) =>
    text.includes(name) || code === `RST_${String(constants[name])}`;
  if (is("NGHTTP2_ENHANCE_YOUR_CALM") || text.includes("Too many CONTINUATION")) return headersOverflow(where);
  if (is("NGHTTP2_HTTP_1_1_REQUIRED")) {
    return failed("response", "target", "http_1_1_required", `${where}: the server requires HTTP/1.1 for this request`);
  }
  const ended = code === "RST_0" || code === "ERR_HTTP2_SESSION_ERROR";
  if (ended || is("NGHTTP2_CANCEL") || is("NGHTTP2_REFUSED_STREAM")) {
    return failed("response", "target", "closed", `${where}: the server closed the stream without a response`);
  }
  if (code.startsWith("ERR_HTTP2") || code.startsWith("RST_")) {
    return failed("response", "target", "protocol_error", `${where}: HTTP/2 ${text}`);
  }
  return exchangeFailure(error, "response", where);
}
