import { isIP, type Socket } from "node:net";
import { type SecureContext, type TLSSocket, connect } from "node:tls";
import { ok, type Failed, type Outcome, failed } from "#shared/contracts/outcome.ts";
import type { Redact } from "#shared/text/redact.ts";
import type { Address, ConnectAttempt, IpVersion } from "#probe-agent/port/address.ts";
import type { HopTls } from "#probe-agent/port/http.ts";
import { dial, type Dialed, type DialLimits } from "#probe-agent/net/http/dial.ts";
import type { Exchange, ExchangeContext } from "#probe-agent/net/http/exchange.ts";
import { exchangeHttp1 } from "#probe-agent/net/http/http1.ts";
import { exchangeHttp2 } from "#probe-agent/net/http/http2.ts";
import type { HopRequest } from "#probe-agent/net/http/request.ts";
import { MAX_HEAD_BYTES } from "#probe-agent/net/http/response-head.ts";
import { secure, type Trust } from "#probe-agent/net/http/secure.ts";
import { headerElements } from "#probe-agent/analysis/http/header-list.ts";
import { protocolOf, quotedStart } from "#probe-agent/net/http/other-protocol.ts";
import { Tap } from "#probe-agent/net/tls/tap.ts";
import { isSameOctets } from "#shared/text/same-octets.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { leafFaults } from "#probe-agent/analysis/tls/certificate/policy.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import { readFlight } from "#probe-agent/net/tls/flight.ts";
import { handshake } from "#probe-agent/net/tls/session.ts";

/** Limits and services of a hop. */
export interface HopContext extends DialLimits {
  readonly secureContext: SecureContext;
  readonly trust: Trust;
  /** HttpRequest.verifiesSentChain. */
  readonly verifiesSentChain: boolean;
  readonly alpn: readonly string[];
  /** Returns all vetted addresses of a host. */
  resolve(host: string): Promise<Outcome<Endpoints>>;
  /** Start of the whole chain on the monotonic clock, in milliseconds. */
  readonly chainStartedAt: number;
  /** Start of this hop on the monotonic clock, in milliseconds. */
  readonly startedAt: number;
  /** HttpRequest.redact. */
  readonly redact: Redact;
}

/** The addresses of a host, divided by the egress rules. */
interface Endpoints {
  readonly allowed: readonly Address[];
  readonly blocked: readonly Address[];
  readonly unanswered?: readonly IpVersion[];
}

/** A connection to the server of a hop, ready for the request. */
export interface HopConnection {
  readonly socket: Socket | TLSSocket;
  readonly endpoints: Endpoints;
  readonly address: Address;
  readonly port: number;
  readonly attempts: readonly ConnectAttempt[];
  /** null without TLS. */
  readonly tls: HopTls | null;
  /** The session after a second check of the certificates; null if none is needed. */
  readonly reviewedTls: Promise<HopTls> | null;
  /**
   * Start of the hop and end of each phase (DNS, connect, TLS) on the monotonic clock, in milliseconds. A phase that
   * did not happen ends when it begins.
   */
  readonly marks: readonly number[];
  /** Sends the request and waits for the head of the response. */
  request(): Promise<Exchange | Failed>;
}

/** The client's connection preface and an empty SETTINGS frame (RFC 9113 section 3.4). */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** Length of a frame's header in octets (RFC 9113 section 4.1). */
const FRAME_HEADER = 9;

/** Maximum wait for the repeated answer, in milliseconds. */
const LOOK_MS = 1500;

/** Resolves the host of a URL, connects to it, and completes the TLS handshake of an https URL. */
export async function connectHop(request: HopRequest, context: HopContext): Promise<Outcome<HopConnection>> {
  const { url } = request;
  const { clock, startedAt, redact } = context;
  const host = hostOf(url);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);

  const endpoints = await context.resolve(host);
  if (endpoints.status !== "ok") return endpoints;
  // An IP literal needs no lookup: that phase did not happen.
  const resolvedAt = isIP(host) === 0 ? clock.monotonic() : startedAt;

  const dialed = await dial(endpoints.data.allowed, port, context);
  if (dialed.status !== "ok") return dialed;
  const connectedAt = clock.monotonic();

  const connected = { ...dialed.data, endpoints: endpoints.data, port };
  const marks = [startedAt, resolvedAt, connectedAt];
  if (url.protocol === "https:") return await secureHop(request, context, { ...connected, host, marks });
  const exchange = CLEAR_EXCHANGES[request.h2c ?? "none"];
  return ok({
    ...connected,
    tls: null,
    reviewedTls: null,
    marks: [...marks, connectedAt],
    request: () => exchange(connected.socket, request, { clock, where: url.host, redact }),
  });
}

const CLEAR_EXCHANGES = { prior_knowledge: exchangeHttp2, upgrade: exchangeUpgrade, none: exchangeHttp1 };

async function secureHop(
  request: HopRequest,
  context: HopContext,
  connected: Dialed & Pick<HopConnection, "endpoints" | "port" | "marks"> & { readonly host: string },
): Promise<Outcome<HopConnection>> {
  const { address, port, host, marks } = connected;
  const { clock, trust, verifiesSentChain, redact } = context;
  const secured = await secure(connected.socket, host, context.alpn, context);
  if (secured.status === "failed" && secured.reason === "not_tls") {
    return await withProtocolName(secured, address, port, context);
  }
  if (secured.status !== "ok") return secured;
  const { socket, tls } = secured.data;
  const reviewedTls =
    verifiesSentChain && mayHaveHiddenPath(tls, trust) ? verifySentChain(tls, { address, port, host }, context) : null;
  const exchange = tls.alpn === "h2" ? exchangeHttp2 : exchangeHttp1;
  return ok({
    ...connected,
    socket,
    tls,
    reviewedTls,
    marks: [...marks, clock.monotonic()],
    request: () => exchange(socket, request, { clock, where: request.url.host, redact }),
  });
}

/** Returns the name or literal to resolve and to send as SNI, without the final dot (RFC 6066 section 3). */
function hostOf({ hostname }: URL): string {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
}

/**
 * Requests HTTP/2 by Upgrade (RFC 7540 section 3.2; RFC 9113 removed it, but servers still support it). A server that
 * ignores the upgrade responds with HTTP/1.1. After a 101 it must send a SETTINGS frame; otherwise the failure is
 * protocol_error.
 */
async function exchangeUpgrade(
  socket: Socket,
  request: HopRequest,
  context: ExchangeContext,
): Promise<Exchange | Failed> {
  const exchange = await exchangeHttp1(socket, request, context);
  if (exchange.status !== "ok" || exchange.head.code !== 101) return exchange;
  if (!headerElements(exchange.head.headers, "upgrade").includes("h2c")) {
    exchange.close();
    return broken(`${context.where}: the server switched to a protocol that the request did not offer`);
  }
  socket.write(PREFACE);
  const read = await exchange.readBody(FRAME_HEADER);
  if (read.status !== "ok") return read;
  if (!isSettings(read.body.bytes)) return broken(`${context.where}: the server agreed to HTTP/2 but did not use it`);
  const body = { ...read.body, bytes: new Uint8Array(), transferredBytes: 0, decodedBytes: 0, truncated: false };
  return { ...exchange, readBody: () => Promise.resolve({ status: "ok", body }) };
}

/** Reports whether octets start with a server's connection preface: a SETTINGS frame of stream 0 that is not an ACK. */
function isSettings(bytes: Uint8Array): boolean {
  if (bytes.length < FRAME_HEADER) return false;
  const [high = 0, middle = 0, low = 0, type, flags = 0, ...stream] = bytes;
  const length = high * 65_536 + middle * 256 + low;
  return type === 4 && (flags & 1) === 0 && length % 6 === 0 && stream.every((octet) => octet === 0);
}

function broken(message: string): Failed {
  return failed("response", "target", "protocol_error", message);
}

/**
 * Adds the protocol of the port to the message of a failure `not_tls`. Node does not expose the octets that OpenSSL
 * rejects, so this connects to the same address again through a tap. Returns the failure unchanged if no octets arrive.
 */
async function withProtocolName(failure: Failed, to: Address, port: number, limits: HopContext): Promise<Failed> {
  const dialed = await dial([to], port, limits);
  if (dialed.status !== "ok") return failure;
  const tap = new Tap(dialed.data.socket);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LOOK_MS);
  const settle = (): void => resolve();
  limits.signal.addEventListener("abort", settle, { once: true });
  tap.on("error", settle);
  const tls = connect({ socket: tap, rejectUnauthorized: false }, settle);
  tls.on("error", settle).once("close", settle);
  if (!limits.signal.aborted) await promise;
  clearTimeout(timer);
  limits.signal.removeEventListener("abort", settle);
  const start = Buffer.from(tap.received().subarray(0, MAX_HEAD_BYTES)).toString("latin1");
  tls.destroy();
  tap.destroy();
  if (start === "") return failure;
  const name = protocolOf(start);
  const words = `${name === null ? "" : ` but ${name}`}, it answers ${quotedStart(start, limits.redact)}`;
  return { ...failure, message: `${failure.message}${words}` };
}

/** Maximum duration of the second handshake, in milliseconds. */
const SECOND_HANDSHAKE_MS = 3000;

/**
 * Reports whether an untrusted chain may be trusted through a certificate that Node does not show: Node links only the
 * first of several issuers with the same name. Returns false if the server's own certificate has a fault.
 */
function mayHaveHiddenPath({ authorized, chain }: HopTls, { now }: Trust): boolean {
  const [leaf] = chain;
  if (authorized || leaf === undefined || chain.length < 2) return false;
  const certificate = parseCertificate(leaf);
  return certificate !== null && leafFaults(certificate, now(), false).length === 0;
}

/**
 * Verifies all certificates that the server sends, read from a second handshake. Returns the session unchanged if that
 * fails or finds no trusted path.
 */
async function verifySentChain(
  tls: HopTls,
  to: { readonly address: Address; readonly port: number; readonly host: string },
  context: DialLimits & { readonly trust: Trust },
): Promise<HopTls> {
  const { address, port, host } = to;
  const { clock, trust } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(SECOND_HANDSHAKE_MS)]);
  const dialed = await dial([address], port, { ...context, signal });
  if (dialed.status !== "ok") return tls;
  const servername = isIP(host) === 0 ? host : null;
  const request = { servername, ...(tls.alpn === null ? {} : { alpn: [tls.alpn] }) };
  const options = { signal, monotonic: () => clock.monotonic(), waitsForRefusal: () => false };
  const { received, secret } = await handshake(dialed.data.socket, request, options);
  const { certificates } = readFlight(received, secret);
  const [leaf, ...intermediates] = certificates;
  // A server with several certificates can send a different one the second time.
  if (leaf === undefined || tls.chain[0] === undefined || !isSameOctets(leaf, tls.chain[0])) return tls;
  const verification = verifyServerChain({ leaf, intermediates, roots: trust.roots, host, now: trust.now() });
  if (!verification.trusted) return tls;
  const path = verification.path.map(({ der }) => der);
  const error = verification.errors[0] ?? null;
  return { ...tls, authorized: error === null, error, chain: certificates, path };
}
