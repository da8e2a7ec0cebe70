import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { writeForever } from "#test/servers/wire.ts";

/** A request as it arrived. */
export interface WebRequest {
  readonly method: string;
  readonly path: string;
  readonly version: string;
  /** Lines of the head without the request line. */
  readonly fields: readonly string[];
  readonly body: string;
}

/** Octets after which the connection ends (latin1), or what is done with the connection. */
type Answer = string | ((socket: Socket) => void);
type Route = string | ((request: WebRequest, argument: string) => Answer);

/** A whole response with its length. */
export function response(body: string, fields: readonly string[] = [], status = "200 OK"): string {
  const head = [`HTTP/1.1 ${status}`, ...fields, `Content-Length: ${body.length}`, "Connection: close"];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

const head = (...lines: readonly string[]): string => `${lines.join("\r\n")}\r\n\r\n`;
const moved = (location: string, status = "302 Found", more: readonly string[] = []): string =>
  response("", [`Location: ${location}`, ...more], status);
const encoded = (coding: string, body: Buffer): string =>
  response(body.toString("latin1"), [`Content-Encoding: ${coding}`]);
/** The octets stay, and the connection too. */
const held =
  (text: string) =>
  (socket: Socket): void =>
    void socket.write(text, "latin1");
const has = ({ fields }: WebRequest, field: RegExp): boolean => fields.some((line) => field.test(line));
const json = (value: unknown, status = "200 OK"): string =>
  response(JSON.stringify(value), ["Content-Type: application/json"], status);

const PLAIN = Buffer.from("compressed text ".repeat(20));
const ZIPPED = gzipSync(PLAIN);
const DATE = "Wed, 21 Oct 2015 07:28:00 GMT";
const MODIFIED: Readonly<Record<string, string>> = {
  good: DATE,
  rfc850: "Wednesday, 21-Oct-15 07:28:00 GMT",
  asctime: "Wed Oct 21 07:28:00 2015",
  zone: "Wed, 21 Oct 2015 07:28:00 +0200",
  iso: "2015-10-21T07:28:00Z",
  empty: "",
  epoch: "Thu, 01 Jan 1970 00:00:00 GMT",
  old: "Fri, 31 Dec 1920 00:00:00 GMT",
  weekday: "Mon, 21 Oct 2015 07:28:00 GMT",
  single: "Wed, 1 Oct 2015 07:28:00 GMT",
};

/**
 * Says the request back. Its Last-Modified is a date made of a digest of the request, so that two exporters that send
 * different requests have different values. Names of fields have no case and no order.
 */
function echo({ method, path, version, fields, body }: WebRequest): string {
  const kept = fields
    .filter((line) => !/^user-agent:/i.test(line))
    .map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()));
  const text = [`${method} ${path} ${version}`, ...kept.toSorted(), "", body].join("\n");
  const seconds = createHash("sha256").update(text).digest().readUInt32BE(0);
  return response(text, [`Last-Modified: ${new Date(seconds * 1000).toUTCString()}`]);
}

/** The parameters of a form, whose order means nothing. */
const sorted = (form: string): string =>
  [...new URLSearchParams(form)]
    .map((pair) => pair.join("="))
    .toSorted()
    .join("&");

/** Routes by the first segment of the path. The second is their argument. */
const ROUTES: Readonly<Record<string, Route>> = {
  ok: response("hello world\n", ["Content-Type: text/plain", "X-One: 1", "X-Multi: a", "X-Multi: b", "X-Empty:"]),
  bytes: (_, argument) => response("x".repeat(Number(argument))),
  echo: (request) => echo(request),
  status: (_, argument) => response("", [], argument),
  statusline: (_, argument) => `${decodeURIComponent(argument)}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`,
  http10: "HTTP/1.0 200 OK\r\n\r\nhello world\n",
  http09: "hello world\n",
  unframed: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello world\n",
  linefeeds: "HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close\n\nhello",
  badutf8: response("\xff\xfe hello \xc3\x28"),
  lines: response("first\nsecond\nthird"),
  none: "HTTP/1.1 204 No Content\r\n\r\n",
  notmodified: "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n",
  headonly: head("HTTP/1.1 200 OK", "Content-Length: 1000", "Connection: close"),
  chunked: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
  trailers: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Trailer: X-T") + "5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
  chunkedcut: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + "5\r\nhello\r\n6\r\n wo",
  chunkedend: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + "5\r\nhello\r\n",
  chunkedbad: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + "5\r\nhello\r\nzz\r\n wo",
  chunkedlength: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 3") + "5\r\nhello\r\n0\r\n\r\n",
  coding: head("HTTP/1.1 200 OK", "Transfer-Encoding: gzip", "Connection: close") + "hello",
  long: head("HTTP/1.1 200 OK", "Content-Length: 100") + "hello",
  short: head("HTTP/1.1 200 OK", "Content-Length: 5") + "hello world",
  lengthtext: head("HTTP/1.1 200 OK", "Content-Length: abc") + "hello",
  lengthtwo: head("HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6") + "hello",
  lengthsame: head("HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 5") + "hello",
  lengthnegative: head("HTTP/1.1 200 OK", "Content-Length: -5") + "hello",
  continue: head("HTTP/1.1 100 Continue") + response("hello"),
  hints: head("HTTP/1.1 103 Early Hints", "Link: </a>") + response("hello"),
  manyhints: head("HTTP/1.1 103 Early Hints").repeat(6) + response("hello"),
  fivehints: head("HTTP/1.1 103 Early Hints").repeat(5) + response("hello"),
  switching: head("HTTP/1.1 101 Switching Protocols", "Upgrade: x", "Connection: Upgrade"),
  modified: (_, argument) => response("ok", [`Last-Modified: ${MODIFIED[argument] ?? ""}`]),
  slowbody: () => (socket) => {
    held(head("HTTP/1.1 200 OK", "Content-Length: 100"))(socket);
    held("hello")(socket);
  },
  slowhead: () => held("HTTP/1.1 200 OK\r\nContent-Le"),
  silent: () => () => undefined,
  reset: () => (socket) => void socket.resetAndDestroy(),
  resetbody: () => (socket) => {
    socket.write(head("HTTP/1.1 200 OK", "Content-Length: 100") + "hello", () => {
      setTimeout(() => socket.resetAndDestroy(), 100);
    });
  },
  closed: "",
  garbage: "\x00\x01\x02 garbage\r\n\r\n",
  ssh: "SSH-2.0-OpenSSH_9.2\r\n",
  cuthead: "HTTP/1.1 200 OK\r\nContent-Le",
  nocolon: head("HTTP/1.1 200 OK", "Content-Length: 5", "nonsense") + "hello",
  spaced: head("HTTP/1.1 200 OK", "Content-Length : 5", "Connection: close") + "hello",
  noname: head("HTTP/1.1 200 OK", ": x", "Content-Length: 5", "Connection: close") + "hello",
  oddname: head("HTTP/1.1 200 OK", "X(y: z", "Content-Length: 5", "Connection: close") + "hello",
  folded: response("hello", ["X-Folded: a", " b"]),
  latin1: response("hello", ["X-Odd: caf\xe9"]),
  control: response("hello", ["X-Odd: a\x01b"]),
  endless: () => (socket) => {
    held(head("HTTP/1.1 200 OK"))(socket);
    writeForever(socket, "y".repeat(16_384));
  },
  bigfield: (_, argument) => response("hello", [`X-Big: ${"z".repeat(Number(argument))}`]),
  manyfields: response(
    "hello",
    Array.from({ length: 3000 }, (_, index) => `X-${index}: 1`),
  ),
  redirect: (_, argument) => (argument === "0" ? response("hello") : moved(`/redirect/${Number(argument) - 1}`)),
  moved: ({ path }, argument) => moved(new URL(path, "http://x").searchParams.get("to") ?? "/echo", argument),
  loop: moved("/loop"),
  nolocation: response("hello", [], "302 Found"),
  emptylocation: moved(""),
  setcookie: (_, argument) => moved("/needcookie", "302 Found", [`Set-Cookie: ${decodeURIComponent(argument)}`]),
  needcookie: (request) => (has(request, /^cookie: a=b$/i) ? response("fed") : response("hungry", [], "403 Forbidden")),
  gzip: encoded("gzip", ZIPPED),
  xgzip: encoded("x-gzip", ZIPPED),
  br: encoded("br", brotliCompressSync(PLAIN)),
  deflate: encoded("deflate", deflateRawSync(PLAIN)),
  zlib: encoded("deflate", deflateSync(PLAIN)),
  gzipcut: encoded("gzip", ZIPPED.subarray(0, 20)),
  gziptwice: encoded("gzip", Buffer.concat([ZIPPED, ZIPPED])),
  gziptail: encoded("gzip", Buffer.concat([ZIPPED, Buffer.from("tail")])),
  gzipempty: encoded("gzip", Buffer.alloc(0)),
  gzipfalse: encoded("gzip", PLAIN),
  unmarked: response(ZIPPED.toString("latin1")),
  token: (request, argument) => {
    if (argument === "inbody" && !request.body.includes("client_id=")) return json({}, "401 Unauthorized");
    if (argument === "refused") return json({ error: "invalid_client" }, "401 Unauthorized");
    if (argument === "broken") return response("<html>", ["Content-Type: text/html"]);
    if (argument === "empty") return json({ token_type: "Bearer" });
    const digest = createHash("sha256").update(
      `${sorted(request.body)} ${request.fields.find((l) => /^auth/i.test(l)) ?? ""}`,
    );
    return json({ access_token: digest.digest("hex"), token_type: "Bearer", expires_in: 3600 });
  },
};

/** Serves the routes on a connection: one request, then whatever its route does. */
export function serveWeb(socket: Socket): void {
  let got = "";
  const read = (chunk: Buffer): void => {
    got += chunk.toString("latin1");
    const end = got.indexOf("\r\n\r\n");
    if (end < 0) return;
    const [first = "", ...fields] = got.slice(0, end).split("\r\n");
    const body = got.slice(end + 4);
    const length = fields.find((line) => /^content-length:/i.test(line))?.split(":")[1] ?? "0";
    if (body.length < Number(length)) return;
    socket.off("data", read);
    socket.resume();
    const [method = "", path = "", version = ""] = first.split(" ");
    answer(socket, { method, path, version, fields, body });
  };
  socket.on("error", () => socket.destroy());
  socket.on("data", read);
}

function answer(socket: Socket, request: WebRequest): void {
  const [, name = "", argument = ""] = request.path.replace(/^http:\/\/[^/]*/, "").split(/[/?]/);
  const route = ROUTES[name] ?? response("no such route", [], "404 Not Found");
  const said = typeof route === "function" ? route(request, argument) : route;
  if (typeof said === "string") socket.end(said, "latin1");
  else said(socket);
}
