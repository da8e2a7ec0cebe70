import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { unredacted } from "#shared/text/redact.ts";
import { bodyFraming } from "#probe-agent/net/http/framing.ts";
import { createBodyCollector } from "#probe-agent/net/http/body.ts";
import type { BodyRead, Exchange, ExchangeContext } from "#probe-agent/net/http/exchange.ts";
import { exchangeHttp1 } from "#probe-agent/net/http/http1.ts";
import { exchangeHttp2 } from "#probe-agent/net/http/http2.ts";
import type { WireRequest } from "#probe-agent/net/http/request.ts";
import type { ResponseHead } from "#probe-agent/net/http/response-head.ts";
import { basicOf } from "#probe-agent/exporter/http/credentials.ts";
import { openConnection } from "#probe-agent/exporter/connect.ts";
import type { HttpOptions } from "#shared/blackbox/module.ts";
import type { Probe, ProberContext } from "#probe-agent/exporter/probe.ts";
import { lookUp } from "#probe-agent/exporter/resolve.ts";
import { secureConnection, type TlsFacts } from "#probe-agent/exporter/tls/client.ts";

/** One request and the way to its server. */
export interface Hop {
  readonly request: WireRequest;
  /** Address to connect to that was looked up before; null: the host of the URL is looked up. */
  readonly ip: string | null;
  /** Name for TLS (SNI and certificate). */
  readonly serverName: string;
  readonly proxy: URL | null;
}

/** How the body is read: the octets that are allowed and kept. */
export interface BodyPlan {
  readonly compression: HttpOptions["compression"];
  /** Maximum number of decoded octets; Infinity: no limit. */
  readonly maxBytes: number;
  readonly keeps: boolean;
}

/** Monotonic times of one hop in milliseconds; null for what did not happen. */
export interface HopTimes {
  start: number;
  dnsDone: number;
  connectDone: number | null;
  tlsStart: number | null;
  tlsDone: number | null;
  gotConn: number | null;
  responseStart: number | null;
  end: number | null;
}

/** The answer to one request, with its body on the wire. */
export interface HopAnswer {
  readonly head: ResponseHead;
  readonly tls: TlsFacts | null;
  /** Reads the body; fails with the reason of the transfer, also if it is longer than allowed. */
  readBody(): Promise<{ readonly bytes: Buffer; readonly octets: number; readonly fault: string | null }>;
  close(): void;
}

/** Sends one request on a new connection and reads the head of the answer. `times` is filled as it goes. */
export async function openHop(
  hop: Hop,
  options: HttpOptions,
  plan: BodyPlan,
  times: HopTimes,
  probe: Probe,
  context: ProberContext,
): Promise<HopAnswer | { readonly fault: string }> {
  const { clock } = context;
  const { request, proxy } = hop;
  const isSecure = request.url.protocol === "https:";
  const connected = await connectHop(hop, times, options, probe, context);
  if ("fault" in connected) return connected;
  let socket: Socket | TLSSocket = connected;
  let facts: TlsFacts | null = null;
  times.connectDone = clock.monotonic();
  if (isSecure) {
    times.tlsStart = times.connectDone;
    const alpn = options.enable_http2 ? ["h2", "http/1.1"] : [];
    const offer = { options: options.tls_config, serverName: hop.serverName, alpn };
    const secured = await secureConnection(socket, offer, probe, context);
    times.tlsDone = clock.monotonic();
    if ("fault" in secured) {
      socket.destroy();
      return secured;
    }
    ({ socket, facts } = secured);
  }
  times.gotConn = clock.monotonic();
  let received = 0;
  const exchanges: ExchangeContext = {
    clock,
    where: request.url.host,
    redact: unredacted,
    collect() {
      const collector = createBodyCollector(codingsOf(plan), plan.maxBytes, plan.keeps);
      return {
        ...collector,
        write(chunk) {
          received += chunk.length;
          return collector.write(chunk);
        },
      };
    },
  };
  const sent = proxy !== null && !isSecure ? forProxy(hop, proxy) : request;
  const exchange = await (facts?.alpn === "h2" ? exchangeHttp2 : exchangeHttp1)(socket, sent, exchanges);
  if (exchange.status === "failed") {
    socket.destroy();
    return { fault: exchange.message };
  }
  times.responseStart = exchange.firstByteAt;
  // What the length of the body is cannot be guessed: the exporter takes such an answer for none.
  const { fault } = bodyFraming(request.method, exchange.head);
  if (exchange.head.version !== "2" && fault !== null) {
    exchange.close();
    return { fault };
  }
  return {
    head: exchange.head,
    tls: facts,
    close: () => exchange.close(),
    readBody: () => readBody(exchange, plan, () => received),
  };
}

function codingsOf({ compression }: BodyPlan): readonly string[] {
  return compression === "" || compression === "identity" ? [] : [compression];
}

/** Reads a body. Of one that takes too long, the octets that arrived are counted if they were not compressed. */
async function readBody(exchange: Exchange, plan: BodyPlan, received: () => number): ReturnType<HopAnswer["readBody"]> {
  const read = await exchange.readBody(plan.maxBytes);
  const isPlain = codingsOf(plan).length === 0;
  if (read.status === "failed")
    return { bytes: Buffer.alloc(0), octets: isPlain ? received() : 0, fault: read.message };
  const { bytes, decodedBytes: octets, error, truncated } = (read satisfies BodyRead).body;
  const isMissing = !isPlain && received() === 0;
  const fault =
    error ?? (truncated ? "the body is longer than allowed" : isMissing ? "the body is not compressed" : null);
  return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), octets, fault };
}

/** Connects to the server or to its proxy; through a proxy to a server with TLS by CONNECT (RFC 9110 section 9.3.6). */
async function connectHop(
  { request: { url }, ip, proxy }: Hop,
  times: HopTimes,
  options: HttpOptions,
  probe: Probe,
  context: ProberContext,
): Promise<Socket | { readonly fault: string }> {
  const { clock } = context;
  if (proxy === null) {
    const port = portOf(url);
    times.start = clock.monotonic();
    if (ip !== null) {
      times.dnsDone = times.start;
      return await openConnection({ ip, port, source: null }, probe, context);
    }
    const found = await lookUp(hostOf(url), probe.signal);
    times.dnsDone = clock.monotonic();
    if ("fault" in found) return found;
    return await connectFirst(found, port, probe, context);
  }
  times.start = clock.monotonic();
  const found = await lookUp(hostOf(proxy), probe.signal);
  times.dnsDone = clock.monotonic();
  if ("fault" in found) return found;
  // The operator's own proxy is reached wherever it is.
  const trusting = { ...context, allows: () => true, deniesName: () => false };
  let socket = await connectFirst(found, portOf(proxy), probe, trusting);
  if ("fault" in socket) return socket;
  if (proxy.protocol === "https:") {
    const offer = { options: { ...options.tls_config, server_name: "" }, serverName: hostOf(proxy), alpn: [] };
    const secured = await secureConnection(socket, offer, probe, context);
    if ("fault" in secured) {
      socket.destroy();
      return secured;
    }
    socket = secured.socket;
  }
  return url.protocol === "https:" ? await tunnel(socket, ip, url, proxy, options) : socket;
}

/** Tries the addresses that are allowed, one after the other. */
async function connectFirst(
  addresses: readonly string[],
  port: number,
  probe: Probe,
  context: ProberContext,
): Promise<Socket | { readonly fault: string }> {
  let failure = { fault: `no address of ${addresses.slice(0, 5).join(", ")} is an allowed target` };
  for (const ip of addresses.filter((address) => context.allows(address)).slice(0, MOST_ADDRESSES)) {
    const opened = await openConnection({ ip, port, source: null }, probe, context);
    if (!("fault" in opened)) return opened;
    failure = opened;
  }
  return failure;
}

const MOST_ADDRESSES = 6;

/** Asks a proxy for a connection to the server, by the address that was looked up if there is one. */
async function tunnel(
  socket: Socket,
  ip: string | null,
  url: URL,
  proxy: URL,
  options: HttpOptions,
): Promise<Socket | { readonly fault: string }> {
  const named = authorityOf(url, ip);
  const authority = url.port === "" ? `${named}:443` : named;
  const fields = Object.entries(options.proxy.proxy_connect_header).flatMap(([name, values]) =>
    values.map((value) => `${name}: ${value}`),
  );
  const credentials = basicOf(proxy);
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    ...(credentials === null ? [] : [`Proxy-Authorization: ${credentials}`]),
    ...fields,
  ];
  return await askProxy(socket, `${lines.join("\r\n")}\r\n\r\n`);
}

/** Maximum octets of the head of a proxy's answer to CONNECT. */
const MOST_PROXY_HEAD = 16_384;

/** Sends CONNECT and waits for the end of the answer's head. What follows it belongs to the tunnel. */
function askProxy(socket: Socket, head: string): Promise<Socket | { readonly fault: string }> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const end = (result: Socket | { readonly fault: string }): void => {
      socket.off("data", read).off("close", closed);
      if ("fault" in result) socket.destroy();
      resolve(result);
    };
    const closed = (): void => end({ fault: "the proxy closed the connection" });
    const read = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const size = received.indexOf("\r\n\r\n");
      if (size === -1) {
        if (received.length > MOST_PROXY_HEAD) end({ fault: "the proxy's answer to CONNECT is too long" });
        return;
      }
      const [line = ""] = received.toString("latin1", 0, size).split("\r\n", 1);
      if (!/^HTTP\/1\.[01] 2\d\d(?: |$)/.test(line)) return end({ fault: `the proxy answered ${line.slice(0, 80)}` });
      socket.pause();
      const rest = received.subarray(size + 4);
      if (rest.length > 0) socket.unshift(rest);
      return end(socket);
    };
    socket.on("data", read).on("close", closed);
    socket.write(head);
  });
}

/** Returns a request as a proxy forwards it. */
function forProxy({ request }: Hop, proxy: URL): WireRequest {
  const credentials = basicOf(proxy);
  return {
    ...request,
    origin: `http://${request.host ?? request.url.host}`,
    headers: credentials === null ? request.headers : [...request.headers, ["Proxy-Authorization", credentials]],
  };
}

/** Returns the host of a URL or the address in its place, with the port that the URL has. */
function authorityOf({ host, port }: URL, ip: string | null): string {
  if (ip === null) return host;
  return `${ip.includes(":") ? `[${ip}]` : ip}${port === "" ? "" : `:${port}`}`;
}

/** Returns the port of a URL as a number. */
function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}
