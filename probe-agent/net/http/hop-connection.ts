import { isIP, type Socket } from "node:net";
import type { SecureContext, TLSSocket } from "node:tls";
import { ok, type Failed, type Outcome } from "#shared/outcome.ts";
import type { Address, ConnectAttempt, IpVersion } from "#probe-agent/port/address.ts";
import type { HopTls } from "#probe-agent/port/http.ts";
import { dial, type Dialed, type DialLimits } from "#probe-agent/net/http/dial.ts";
import type { Exchange } from "#probe-agent/net/http/exchange.ts";
import { exchangeUpgrade } from "#probe-agent/net/http/h2c.ts";
import { exchangeHttp1 } from "#probe-agent/net/http/http1.ts";
import { exchangeHttp2 } from "#probe-agent/net/http/http2.ts";
import { withProtocolName } from "#probe-agent/net/http/not-tls.ts";
import type { HopRequest } from "#probe-agent/net/http/request.ts";
import { secure, type Trust } from "#probe-agent/net/http/secure.ts";
import { verifySentChain, mayHaveHiddenPath } from "#probe-agent/net/http/sent-chain.ts";

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

/** Resolves the host of a URL, connects to it, and completes the TLS handshake of an https URL. */
export async function connectHop(request: HopRequest, context: HopContext): Promise<Outcome<HopConnection>> {
  const { url } = request;
  const { clock, startedAt } = context;
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
    request: () => exchange(connected.socket, request, { clock, where: url.host }),
  });
}

const CLEAR_EXCHANGES = { prior_knowledge: exchangeHttp2, upgrade: exchangeUpgrade, none: exchangeHttp1 };

async function secureHop(
  request: HopRequest,
  context: HopContext,
  connected: Dialed & Pick<HopConnection, "endpoints" | "port" | "marks"> & { readonly host: string },
): Promise<Outcome<HopConnection>> {
  const { address, port, host, marks } = connected;
  const { clock, trust, verifiesSentChain } = context;
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
    request: () => exchange(socket, request, { clock, where: request.url.host }),
  });
}

/** Returns the name or literal to resolve and to send as SNI, without the final dot (RFC 6066 section 3). */
function hostOf({ hostname }: URL): string {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
}
