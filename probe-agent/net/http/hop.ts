import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { Hop, HopTls, HttpBody } from "#probe-agent/port/http.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { DeadlineError, exchangeFailure } from "#probe-agent/net/http/failure.ts";
import { readable } from "#probe-agent/net/http/header-text.ts";
import { connectHop, type HopContext } from "#probe-agent/net/http/hop-connection.ts";
import { describeHop } from "#probe-agent/net/http/hop-report.ts";
import { readLocation, type LocationTarget } from "#probe-agent/net/http/redirect.ts";
import type { HopRequest } from "#probe-agent/net/http/request.ts";
import { connectTo, type DialLimits } from "#probe-agent/net/http/dial.ts";
import type { Address, ConnectAttempt } from "#probe-agent/port/address.ts";

/** A hop whose response head has arrived. Call exactly one of `read` and `skip`. */
export interface OpenHop {
  readonly url: string;
  readonly code: number;
  /** The session as verified at first; null without TLS. */
  readonly tls: HopTls | null;
  readonly target: LocationTarget;
  /** Starts a connection to an address of the other IP family; null if the host has none. */
  tryOtherFamily(): TrialConnection | null;
  /** Set-Cookie lines of the response. */
  readonly setCookies: readonly string[];
  /** Reads the body. Used on the final hop. */
  read(maxBytes: number, patienceMs?: number): Promise<Outcome<{ readonly hop: Hop; readonly body: HttpBody }>>;
  /** Closes the connection at once, without reading the body. Resolves when the certificates are verified. */
  skip(): Promise<Hop>;
}

/**
 * Maximum wait for the other family in milliseconds: 1 s until the kernel repeats a lost SYN (RFC 6298 section 2), and
 * 0.5 s for the answer.
 */
const PATIENCE_MS = 1500;
/** Part of the job's time reserved for later steps, in milliseconds. */
const RESERVE_MS = 250;

/** A trial connection and a function that cancels it. */
interface TrialConnection {
  /** Resolves to null if the time was too short for a result, or if the rules refused the peer. */
  readonly attempt: Promise<ConnectAttempt | null>;
  cancel(): void;
}

/** Connects to the server of a URL, sends the request, and waits for the head of the final response. */
export async function openHop(request: HopRequest, context: HopContext): Promise<Outcome<OpenHop>> {
  const connected = await connectHop(request, context);
  if (connected.status !== "ok") return connected;
  const connection = connected.data;
  const { signal } = context;

  const giveUp = () => connection.socket.destroy(new DeadlineError());
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) {
    giveUp();
    return exchangeFailure(new DeadlineError(), "request", request.url.host);
  }
  const exchange = await connection.request();
  if (exchange.status !== "ok") {
    signal.removeEventListener("abort", giveUp);
    return exchange;
  }

  const { head } = exchange;
  const target = readLocation(head, request.url);
  const { attempts, endpoints, port, tls, reviewedTls } = connection;
  const describe = async (endedAt: number): Promise<Hop> => {
    const hop = describeHop(request, context, connection, exchange, { location: target.location, endedAt });
    return reviewedTls === null ? hop : { ...hop, tls: await reviewedTls };
  };
  return ok({
    url: request.url.href,
    code: head.code,
    tls,
    target,
    tryOtherFamily: () => tryOtherFamily({ allowed: endpoints.allowed, attempts }, port, context),
    setCookies: headerValues(head.headers, "set-cookie").map(readable),
    async read(maxBytes, patienceMs) {
      const read = await exchange.readBody(maxBytes, patienceMs);
      const endedAt = context.clock.monotonic();
      signal.removeEventListener("abort", giveUp);
      return read.status === "ok" ? ok({ hop: await describe(endedAt), body: read.body }) : read;
    },
    skip() {
      exchange.close();
      signal.removeEventListener("abort", giveUp);
      return describe(exchange.firstByteAt);
    },
  });
}

/**
 * Starts one connection to the first address of a family that was not tried; null if there is none. The connection is
 * closed as soon as it is open.
 */
function tryOtherFamily(
  { allowed, attempts }: { readonly allowed: readonly Address[]; readonly attempts: readonly ConnectAttempt[] },
  port: number,
  limits: DialLimits,
): TrialConnection | null {
  const tried = new Set(attempts.map(({ address }) => address.version));
  const address = allowed.find(({ version }) => !tried.has(version));
  if (address === undefined) return null;
  const own = new AbortController();
  const signal = AbortSignal.any([limits.signal, own.signal]);
  return { attempt: tryOnce(address, port, { ...limits, signal }), cancel: () => own.abort() };
}

async function tryOnce(address: Address, port: number, limits: DialLimits): Promise<ConnectAttempt | null> {
  const startedAt = limits.clock.monotonic();
  const patience = Math.min(PATIENCE_MS, limits.deadline - startedAt - RESERVE_MS);
  if (patience <= 0) return null;
  const outcome = await connectTo(address, port, patience, limits);
  const ms = limits.clock.monotonic() - startedAt;
  if (outcome.status === "ok") {
    outcome.data.destroy();
    return { address, failure: null, ms };
  }
  if (outcome.status !== "failed") return null;
  // A wait that the job's end shortened proves nothing about the target.
  const cut = outcome.reason === "timeout" && (patience < PATIENCE_MS || limits.signal.aborted);
  return cut ? null : { address, failure: outcome, ms };
}
