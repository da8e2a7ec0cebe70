import { isIP } from "node:net";
import type { SecureContext } from "node:tls";
import { ok, type Failed, type Outcome } from "#shared/outcome.ts";
import type { Address, IpVersion } from "#probe-agent/port/address.ts";
import type { Hop, HopTls, HopTiming, HttpBody } from "#probe-agent/port/http.ts";
import { dial, type DialLimits } from "#probe-agent/net/http/dial.ts";
import type { Exchange } from "#probe-agent/net/http/exchange.ts";
import { DeadlineError, exchangeFailure } from "#probe-agent/net/http/failure.ts";
import { readable, valuesOf } from "#probe-agent/net/http/header-text.ts";
import { judgeAllSent, mayHideAPath } from "#probe-agent/net/http/sent-chain.ts";
import { secure, type Trust } from "#probe-agent/net/http/secure.ts";
import { exchangeUpgrade } from "#probe-agent/net/http/h2c.ts";
import { exchangeHttp1 } from "#probe-agent/net/http/http1.ts";
import { exchangeHttp2 } from "#probe-agent/net/http/http2.ts";
import { namingProtocol } from "#probe-agent/net/http/not-tls.ts";
import { tryOtherFamily, type Trial } from "#probe-agent/net/http/other-family.ts";
import { readLocation, type LocationVerdict } from "#probe-agent/net/http/redirect.ts";
import type { HopRequest } from "#probe-agent/net/http/request.ts";

/** What a hop may use. */
export interface HopContext extends DialLimits {
  readonly secureContext: SecureContext;
  readonly trust: Trust;
  readonly alpn: readonly string[];
  /** All vetted addresses of a host. */
  resolve(host: string): Promise<Outcome<Endpoints>>;
  /** Monotonic milliseconds at which the whole chain began. */
  readonly chainStartedAt: number;
  /** Monotonic milliseconds at which this hop began. */
  readonly startedAt: number;
}

/** The addresses of a host, divided by the egress rules. */
export interface Endpoints {
  readonly allowed: readonly Address[];
  readonly blocked: readonly Address[];
  readonly unanswered?: readonly IpVersion[];
}

/** A hop whose head has come. Exactly one of `read` and `skip` is to be called. */
export interface OpenHop {
  readonly code: number;
  readonly target: LocationVerdict;
  /** Begins a connection to an address of the family that was not connected to; null where there is none. */
  tryOtherFamily(): Trial | null;
  /** Its Set-Cookie lines. */
  readonly setCookies: readonly string[];
  /** Reads the body: this is the final hop. */
  read(maxBytes: number, patienceMs?: number): Promise<Outcome<{ readonly hop: Hop; readonly body: HttpBody }>>;
  /** Closes: the head was all that was needed. */
  skip(): Hop;
}

/** Resolves, connects, secures, asks, and waits for the head of the final response. */
export async function openHop(request: HopRequest, context: HopContext): Promise<Outcome<OpenHop>> {
  const { url } = request;
  const { clock, signal } = context;
  const marks = [context.startedAt];
  const host = hostOf(url);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);

  const endpoints = await context.resolve(host);
  if (endpoints.status !== "ok") return endpoints;
  // A literal needs no look-up: that phase did not happen.
  marks.push(isIP(host) === 0 ? clock.monotonic() : (marks[0] ?? 0));

  const dialed = await dial(endpoints.data.allowed, port, context);
  if (dialed.status !== "ok") return dialed;
  marks.push(clock.monotonic());
  const { socket: raw, address, attempts } = dialed.data;

  let tls: HopTls | null = null;
  let judged: Promise<HopTls> | null = null;
  const clear = { prior_knowledge: exchangeHttp2, upgrade: exchangeUpgrade, none: exchangeHttp1 }[
    request.h2c ?? "none"
  ];
  let speak = (): Promise<Exchange | Failed> => clear(raw, request, { clock, where: url.host });
  let socket: { destroy(error?: Error): unknown } = raw;
  if (url.protocol === "https:") {
    const secured = await secure(raw, host, context.alpn, context);
    if (secured.status === "failed" && secured.reason === "not_tls") {
      return await namingProtocol(secured, address, port, context);
    }
    if (secured.status !== "ok") return secured;
    const { socket: encrypted } = secured.data;
    ({ tls } = secured.data);
    if (mayHideAPath(tls, context.trust)) judged = judgeAllSent(tls, { address, port, host }, context);
    socket = encrypted;
    const version = tls.alpn === "h2" ? exchangeHttp2 : exchangeHttp1;
    speak = () => version(encrypted, request, { clock, where: url.host });
    marks.push(clock.monotonic());
  } else marks.push(marks[2] ?? 0);

  const giveUp = () => socket.destroy(new DeadlineError());
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) {
    giveUp();
    return exchangeFailure(new DeadlineError(), "request", url.host);
  }
  const exchange = await speak();
  if (exchange.status !== "ok") {
    signal.removeEventListener("abort", giveUp);
    return exchange;
  }
  marks.push(exchange.firstByteAt);

  const { head } = exchange;
  const target = readLocation(head, url);
  const describe = (end: number): Hop => ({
    url: url.href,
    method: request.method,
    code: head.code,
    statusText: readable(head.statusText),
    httpVersion: head.version,
    ip: address.ip,
    ipVersion: address.version,
    port,
    addresses: endpoints.data.allowed,
    blocked: endpoints.data.blocked,
    unanswered: endpoints.data.unanswered ?? [],
    attempts,
    headers: head.headers.map(([name, value]) => [readable(name), readable(value)] as const),
    faults: head.faults,
    informational: exchange.informational,
    location: target.location,
    timing: timingOf(marks, end),
    tls,
    startedAtUs: micros((marks[0] ?? 0) - context.chainStartedAt),
  });
  return ok({
    code: head.code,
    target,
    tryOtherFamily: () => tryOtherFamily({ allowed: endpoints.data.allowed, attempts }, port, context),
    setCookies: valuesOf(head.headers, "set-cookie").map(readable),
    async read(maxBytes, patienceMs) {
      const read = await exchange.readBody(maxBytes, patienceMs);
      const endedAt = clock.monotonic();
      signal.removeEventListener("abort", giveUp);
      if (read.status !== "ok") return read;
      const hop = describe(endedAt);
      return ok({ hop: judged === null ? hop : { ...hop, tls: await judged }, body: read.body });
    },
    skip() {
      exchange.close();
      signal.removeEventListener("abort", giveUp);
      return describe(exchange.firstByteAt);
    },
  });
}

/** The name or literal to look up and to send as SNI, which has no final dot (RFC 6066 section 3). */
function hostOf({ hostname }: URL): string {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
}

/** Boundaries (start, dns, connect, tls, first byte; monotonic ms) and the end, as durations that add up. */
function timingOf(marks: readonly number[], end: number): HopTiming {
  const start = marks[0] ?? 0;
  const boundaries = [...marks.slice(1), end].map((mark) => micros(mark - start));
  const [dns = 0, connected = 0, secured = 0, first = 0, total = 0] = boundaries;
  return {
    dns,
    connect: connected - dns,
    tls: secured - connected,
    ttfb: first - secured,
    transfer: total - first,
    total,
  };
}

function micros(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}
