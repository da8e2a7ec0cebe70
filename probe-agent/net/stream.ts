import { isIP, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import type { Redact } from "#shared/text/redact.ts";
import { failed, ok, refused, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import { dial, type Dialed } from "#probe-agent/net/http/dial.ts";
import { MAX_INFORMATIONAL } from "#probe-agent/net/http/exchange.ts";
import { DeadlineError, exchangeFailure } from "#probe-agent/net/http/failure.ts";
import { brokenHead, tooManyInformational } from "#probe-agent/net/http/http1.ts";
import { createHeadReader } from "#probe-agent/net/http/response-head.ts";
import { exchangeOnce } from "#probe-agent/net/stream-http2.ts";
import { endReason, observe } from "#probe-agent/net/tls/observation.ts";
import { openSession } from "#probe-agent/net/tls/session.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { Stream, StreamHead, StreamPort, StreamTarget, StreamEnd } from "#probe-agent/port/stream.ts";
import { createOctets } from "#probe-agent/net/octets.ts";

/** Dependencies of the stream port. */
interface StreamDeps {
  readonly clock: Clock;
  readonly egress: Egress;
  readonly userAgent: string;
}

/**
 * Creates the port of connections whose protocol a check speaks itself. It connects only to vetted addresses, vets the
 * peer again after connecting, and observes the job's deadline.
 */
export function createStreams({ clock, egress, userAgent }: StreamDeps): (job: JobLimits, dns: DnsPort) => StreamPort {
  return (job, dns) => ({
    userAgent,
    async open({ at, maxBytes, redact, isListedOnly = false }) {
      const place = placeOf(at, egress);
      if (place.status !== "ok") return place;
      const { host, port } = place.data;
      const startedAt = clock.monotonic();
      const resolved = await dns.resolve(host);
      if (resolved.status !== "ok") return resolved;
      if (isListedOnly && !resolved.data.allowed.every(({ ip }) => egress.lists(ip))) return refused;
      const resolvedAt = clock.monotonic();
      const { signal, deadline } = job;
      const dialed = await dial(resolved.data.allowed, port, { clock, signal, deadline, egress });
      if (dialed.status !== "ok") return dialed;
      const isLiteral = isIP(host) !== 0;
      const timing = {
        dns: isLiteral ? 0 : resolvedAt - startedAt,
        connect: clock.monotonic() - (isLiteral ? startedAt : resolvedAt),
      };
      const known = { ...place.data, addresses: resolved.data.allowed.length, timing, maxBytes, redact };
      return ok(createStream(dialed.data, known, { clock, job }));
    },
  });
}

interface Place {
  readonly host: string;
  readonly port: number;
}

function placeOf(at: StreamTarget["at"], egress: Egress): Outcome<Place> {
  if ("host" in at) return ok(at);
  const check = egress.checkUrl(at.url);
  if (check.ok) {
    const { hostname, port, protocol } = check.url;
    // RFC 6066 section 3: names have no final dot.
    const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
    return ok({ host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) });
  }
  if (check.code === "target_not_allowed") return refused;
  return { status: "invalid", field: "url", message: "must be a URL that can be requested" };
}

interface Known extends Place {
  readonly addresses: number;
  readonly timing: Pick<Stream["timing"], "dns" | "connect">;
  readonly maxBytes: number;
  readonly redact: Redact;
}

function createStream({ socket: raw, address }: Dialed, known: Known, { clock, job }: StreamContext): Stream {
  const { host, port, timing, maxBytes, redact } = known;
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  let socket: Socket | TLSSocket = raw;
  let tlsMs = 0;
  let opened: Inbox | null = null;
  // Reading begins with its first use: HTTP/2 reads the socket itself.
  const inbox = (): Inbox => (opened ??= openInbox(socket, maxBytes, where));
  let end = (): void => raw.destroySoon();
  const giveUp = (): void => void socket.destroy(new DeadlineError());
  if (job.signal.aborted) giveUp();
  else job.signal.addEventListener("abort", giveUp, { once: true });

  return {
    host,
    port,
    ip: address.ip,
    addresses: known.addresses,
    localAddress: raw.localAddress ?? "127.0.0.1",
    redact,
    get timing() {
      return { ...timing, tls: tlsMs };
    },
    received: () => inbox().received(),
    more: () => inbox().more(),
    send: (octets) => void socket.write(octets),
    async secure(alpn) {
      opened?.detach();
      const startedAt = clock.monotonic();
      const request = { servername: isIP(host) === 0 ? host : null, ...(alpn === undefined ? {} : { alpn }) };
      const options = { signal: job.signal, monotonic: () => clock.monotonic(), waitsForRefusal: () => false };
      const secured = await openSession(raw, request, options);
      const endedAt = clock.monotonic();
      tlsMs = endedAt - startedAt;
      socket = secured.socket;
      end = secured.close;
      opened = null;
      return observe(secured.session, () => endReason(job, clock), {
        started: startedAt - timing.connect,
        connected: startedAt,
      });
    },
    readHead: () => readHead(inbox(), where, redact),
    exchangeHttp2: (request) => exchangeOnce(socket, socket === raw ? "http" : "https", request, where),
    close() {
      job.signal.removeEventListener("abort", giveUp);
      end();
    },
  };
}

interface StreamContext {
  readonly clock: Clock;
  readonly job: JobLimits;
}

async function readHead(inbox: Inbox, where: string, redact: Redact): Promise<StreamHead | Failed> {
  const read = createHeadReader();
  let informational = 0;
  let fed = 0;
  for (;;) {
    const received = inbox.received();
    const progress = read(received.subarray(fed));
    fed = received.length;
    if (progress.state === "broken") return brokenHead(progress, where, redact);
    if (progress.state === "head") {
      inbox.drop(received.length - progress.rest.length);
      fed = 0;
      if (progress.head.code >= 200 || progress.head.code === 101) return progress.head;
      informational += 1;
      if (informational > MAX_INFORMATIONAL) return tooManyInformational(where);
      continue;
    }
    const ended = await inbox.more();
    if (ended === null) continue;
    if (typeof ended !== "string") return ended;
    const words = fed === 0 ? "without a response" : "within the response header";
    return failed("response", "target", "closed", `${where}: the server closed the connection ${words}`);
  }
}

/** The received octets of one side of a connection. */
interface Inbox {
  received(): Buffer;
  /** Stream.more. */
  more(): Promise<StreamEnd | null>;
  /** Removes the first `count` octets. */
  drop(count: number): void;
  /** Stops reading, so that another reader can take the socket. */
  detach(): void;
}

/**
 * Starts to read a socket, up to `maxBytes` octets. Octets that arrived before an error are kept. Destroying the socket
 * with an error (as the deadline does) ends every wait. `where` names the peer in messages.
 */
function openInbox(socket: Socket | TLSSocket, maxBytes: number, where: string): Inbox {
  const octets = createOctets();
  let total = 0;
  let seen = 0;
  let end: StreamEnd | null = null;
  let wake = (): void => undefined;
  const data = (chunk: Buffer): void => {
    const kept = chunk.subarray(0, maxBytes - total);
    octets.append(kept);
    total += kept.length;
    if (total >= maxBytes) {
      socket.pause();
      end ??= "full";
    }
    wake();
  };
  const closed = (): void => finish("closed");
  const fail = (error: unknown): void => finish(exchangeFailure(error, "response", where));
  function finish(how: "closed" | Failed): void {
    end ??= how;
    wake();
  }
  // The listener for errors is never removed, because a late error without a listener would end the process.
  socket.on("data", data).on("end", closed).on("close", closed).on("error", fail);
  if (socket.errored !== null) fail(socket.errored);
  else if (socket.destroyed) closed();
  const next = (): StreamEnd | null | "wait" => {
    if (octets.length > seen) {
      seen = octets.length;
      return null;
    }
    return end ?? "wait";
  };
  return {
    received: () => octets.view(),
    more() {
      const { promise, resolve } = Promise.withResolvers<StreamEnd | null>();
      wake = () => {
        const found = next();
        if (found === "wait") return;
        wake = () => undefined;
        resolve(found);
      };
      wake();
      return promise;
    },
    drop(count) {
      octets.drop(count);
      seen = Math.max(0, seen - count);
    },
    detach() {
      socket.off("data", data).off("end", closed).off("close", closed);
      socket.pause();
    },
  };
}
