import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { SeenRequest } from "#test/servers/http.ts";
import { drip, writeForever } from "#test/servers/wire.ts";

/** One request on its way to a route. */
export interface RouteCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly seen: SeenRequest;
  /** The request URL on a made-up origin, for its query. */
  readonly url: URL;
  /** Second path segment. */
  readonly argument: string;
}

type Route = (call: RouteCall) => void;

const PAGE = "<!doctype html><html lang=en><title>Test page</title><p>Hello</p></html>\n";

const CODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  zstd: (bytes) => zstdCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  "deflate-raw": (bytes) => deflateRawSync(bytes),
};

/**
 * What the test server can be asked for. All HTTP/1 unless noted "any": those also work over h2.
 * - / (any): a small HTML page. /echo (any): the request as JSON. /bytes/:n (any): n bytes of "x".
 * - /status/:code[?location=&reason=] (any): that status with a short body.
 * - /redirect/:n[?code=] (any): n hops of relative redirects to "/". /loop (any): to itself.
 *   /ping <-> /pong (any): a loop of two. /to?url=[&code=] (any): Location exactly as given (repeat for several).
 * - /encoded/:coding[?times=&size=] (any): gzip, br, zstd, deflate, deflate-raw, or a comma list applied in order.
 *   /bomb/:coding[?size=] (any): zeros, 50 MB by default. /lying/:coding (any): labelled so, but plain text.
 * - /cookies/:n (any): n Set-Cookie headers. /trailers: chunked with trailers.
 * - /silent: never answers. /drip?ms=: the answer byte by byte. /drip-body?ms=: only the body.
 *   /endless-headers, /endless-body (any), /endless-chunks, /hints/:n: n 103s then a page; /hints/forever.
 *   /short: closes before Content-Length is met. /reset: RST in mid-body; /reset-early: before any byte.
 *   /wire?bytes=: exactly these bytes (latin1 of the decoded query), then FIN.
 */
export const ROUTES: Readonly<Record<string, Route>> = {
  "": ({ response }) => void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE),
  echo: ({ response, seen }) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(seen)),
  bytes: ({ response, argument }) =>
    void response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(Number(argument))),
  status: ({ response, argument, url }) => {
    const location = url.searchParams.get("location");
    const reason = url.searchParams.get("reason");
    if (reason !== null) response.statusMessage = reason;
    const headers = { "content-type": "text/plain", ...(location === null ? {} : { location }) };
    response.writeHead(Number(argument), headers).end("status\n");
  },
  redirect: ({ response, argument, url }) => {
    const left = Number(argument);
    const code = Number(url.searchParams.get("code") ?? 302);
    const location = left <= 1 ? "/" : `/redirect/${left - 1}?code=${code}`;
    response.writeHead(code, { location }).end("moved\n");
  },
  loop: ({ response, url }) => void response.writeHead(302, { location: url.pathname + url.search }).end(),
  ping: ({ response }) => void response.writeHead(302, { location: "/pong" }).end(),
  pong: ({ response }) => void response.writeHead(302, { location: "/ping" }).end(),
  to: ({ response, url }) => {
    for (const location of url.searchParams.getAll("url")) response.appendHeader("location", location);
    response.writeHead(Number(url.searchParams.get("code") ?? 302)).end("moved\n");
  },
  encoded: ({ response, argument, url }) => {
    const codings = decodeURIComponent(argument).split(",");
    let body: Buffer = Buffer.from("Hello, world. ".repeat(Number(url.searchParams.get("times") ?? 100)));
    for (const coding of codings) body = CODERS[coding.trim()]?.(body) ?? body;
    response.writeHead(200, {
      "content-encoding": codings.join(", ").replace("deflate-raw", "deflate"),
      "content-length": body.length,
    });
    response.end(body);
  },
  bomb: ({ response, argument, url }) => {
    const body = CODERS[argument]?.(Buffer.alloc(Number(url.searchParams.get("size") ?? 50_000_000))) ?? "";
    response.writeHead(200, { "content-encoding": argument }).end(body);
  },
  lying: ({ response, argument }) =>
    void response.writeHead(200, { "content-encoding": argument }).end("this is plain text"),
  cookies: ({ response, argument }) => {
    for (let n = 0; n < Number(argument); n += 1) response.appendHeader("set-cookie", `c${n}=${n}; Path=/`);
    response.writeHead(200).end("cookies\n");
  },
  trailers: ({ response }) => {
    response.writeHead(200, { trailer: "X-Check" });
    response.write("with trailers\n");
    response.addTrailers({ "X-Check": "1" });
    response.end();
  },
  silent: () => undefined,
  drip: ({ request, url }) =>
    drip(
      request.socket,
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n${"x".repeat(1e5)}`,
      Number(url.searchParams.get("ms") ?? 50),
    ),
  "drip-body": ({ request, url }) => {
    request.socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    drip(request.socket, "x".repeat(1e5), Number(url.searchParams.get("ms") ?? 50));
  },
  "endless-headers": ({ request }) => {
    request.socket.write("HTTP/1.1 200 OK\r\n");
    writeForever(request.socket, `X-Filler: ${"a".repeat(1000)}\r\n`.repeat(16));
  },
  "endless-body": ({ response }) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const piece = Buffer.alloc(65_536, "x");
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  },
  "endless-chunks": ({ request }) => {
    request.socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    writeForever(request.socket, `1;${"e".repeat(4000)}\r\nx\r\n`.repeat(8));
  },
  hints: ({ request, argument }) => {
    const hint = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n";
    if (argument === "forever") writeForever(request.socket, hint.repeat(100));
    else {
      request.socket.end(`${hint.repeat(Number(argument))}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello`);
    }
  },
  short: ({ request }) => void request.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this"),
  reset: ({ request }) => {
    request.socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome of it", () => {
      setTimeout(() => request.socket.resetAndDestroy(), 20);
    });
  },
  "reset-early": ({ request }) => void request.socket.resetAndDestroy(),
  wire: ({ request, url }) => void request.socket.end(Buffer.from(url.searchParams.get("bytes") ?? "", "latin1")),
};
