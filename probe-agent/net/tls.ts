import { type Socket, connect } from "node:net";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, refused, type Failed, type Outcome, type Refused } from "#shared/contracts/outcome.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { HelloAnswer, HelloRequest, TlsObservation, TlsPort, TlsRequest } from "#probe-agent/port/tls.ts";
import { readFlight } from "#probe-agent/net/tls/flight.ts";
import { createHelloReader } from "#probe-agent/net/tls/hello/decode.ts";
import { encodeHello, HELLO_RANDOM } from "#probe-agent/net/tls/hello/encode.ts";
import { createFlightReader, encodeOwnHello } from "#probe-agent/net/tls/hello/own-keys.ts";
import { endedEarly, endReason, observe } from "#probe-agent/net/tls/observation.ts";
import { failureReason } from "#probe-agent/net/tls/reasons.ts";
import { fromPem, trustedRoots } from "#probe-agent/net/tls/roots.ts";
import { handshake } from "#probe-agent/net/tls/session.ts";
import { createTurns, type Turns } from "#probe-agent/threads/turns.ts";

/** Dependencies of the TLS port. */
interface TlsDependencies {
  readonly clock: Clock;
  readonly egress: Egress;
  readonly random: Random;
  /** PEM texts of the roots to trust instead of Node's. */
  readonly roots?: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 10_000;
/**
 * Maximum number of concurrent connections of one job. With the page that a tool may fetch at the same time, they are
 * six.
 */
const AT_ONCE = 5;

/** How the answer to a hello ended; `aborted` if the signal ended the wait. */
interface Exchange {
  readonly ending: HelloAnswer["ending"];
  readonly aborted: boolean;
}

/**
 * Creates the TLS port. Failures of `inspect`: stage connect with refused, timeout, unreachable, reset, prohibited,
 * connection_failed (source probe: local_error, cancelled); stage tls with timeout, plain_text, not_tls, reset, closed,
 * an alert's name (handshake_failure, protocol_version, unrecognized_name, ...) or OpenSSL's reason. The same words
 * are in an observation's `error` if the certificate had arrived. `hello` fails with the same words, but alerts and
 * closes are answers to it.
 */
export function createTls(dependencies: TlsDependencies): (job: JobLimits) => TlsPort {
  const given = dependencies.roots?.map(fromPem);
  return (job) => {
    const turns = createTurns(AT_ONCE);
    return {
      inspect: (request) => inTurn(turns, job, () => inspect(request, job, dependencies)),
      hello: (request) => inTurn(turns, job, () => sendHello(request, job, dependencies)),
      timestamps: (request) => inTurn(turns, job, () => readTimestamps(request, job, dependencies)),
      roots: () => given ?? trustedRoots(),
    };
  };
}

async function inspect(
  request: TlsRequest,
  job: JobLimits,
  dependencies: TlsDependencies,
): Promise<Outcome<TlsObservation>> {
  const { clock } = dependencies;
  const opened = await open(request, job, dependencies);
  if ("status" in opened) return opened;
  const { socket, signal, started, connected } = opened;
  const session = await handshake(socket, request, {
    signal,
    monotonic: () => clock.monotonic(),
    waitsForRefusal: (received, secret) => readFlight(received, secret).clientCertificateRequested,
  });
  return observe(session, () => endReason(job, clock), { started, connected });
}

async function sendHello(
  request: HelloRequest,
  job: JobLimits,
  dependencies: TlsDependencies,
): Promise<Outcome<HelloAnswer>> {
  const opened = await open(request, job, dependencies);
  if ("status" in opened) return opened;
  const { socket, signal } = opened;
  const hello = encodeHello(request, dependencies.random.bytes(HELLO_RANDOM));
  const reader = createHelloReader(request.flight === true);
  const { ending, aborted } = await exchangeHello(socket, hello, { push: (chunk) => reader.push(chunk), signal });
  const answer = { ...reader.answer(), ending };
  if (answer.serverHello !== null || answer.alert?.fatal === true) return ok(answer);
  if (aborted) return endedEarly("tls", endReason(job, dependencies.clock));
  if (reader.kind() === "nothing" || reader.kind() === "tls") return ok(answer);
  const { reason, message } = failureReason({ error: null, received: reader.start(), fatalAlert: null, ending });
  return failed("tls", "target", reason, message);
}

async function readTimestamps(
  request: HelloRequest,
  job: JobLimits,
  { clock, egress, random }: TlsDependencies,
): Promise<Outcome<Uint8Array | null>> {
  const opened = await open(request, job, { clock, egress });
  if ("status" in opened) return opened;
  const { socket, signal } = opened;
  const { hello, privateKey } = encodeOwnHello({ ...request, signedTimestamps: true }, random.bytes(HELLO_RANDOM));
  const reader = createFlightReader(hello, privateKey);
  const { aborted } = await exchangeHello(socket, hello, { push: (chunk) => reader.push(chunk), signal });
  const { certificates, timestamps } = reader.flight();
  if (certificates.length > 0) return ok(timestamps);
  if (aborted) return endedEarly("tls", endReason(job, clock));
  return failed("tls", "target", "no_certificate", "The server ended the handshake before it sent a certificate");
}

async function inTurn<T>(turns: Turns, job: JobLimits, run: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  const leave = await turns.take(job.signal);
  // The job has ended; the attempt reports the cause.
  if (leave === null) return await run();
  try {
    return await run();
  } finally {
    leave();
  }
}

interface Opened {
  readonly socket: Socket;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly started: number;
  readonly connected: number;
}

/** Opens a TCP connection to a vetted address, with the signal that ends its use. */
async function open(
  { ip, port, timeoutMs = DEFAULT_TIMEOUT_MS }: Pick<TlsRequest, "ip" | "port" | "timeoutMs">,
  job: JobLimits,
  { clock, egress }: Pick<TlsDependencies, "clock" | "egress">,
): Promise<Opened | Failed | Refused> {
  if (!egress.allowsAddress(ip)) return refused;
  const started = clock.monotonic();
  const budget = Math.min(timeoutMs, job.deadline - started);
  const late = (): Failed => endedEarly("connect", endReason(job, clock));
  if (budget <= 0) return late();
  const signal = AbortSignal.any([job.signal, AbortSignal.timeout(Math.ceil(budget))]);
  const socket = await connectTcp(ip, port, signal);
  if (socket === "aborted") return late();
  if ("status" in socket) return socket;
  const connected = clock.monotonic();
  if (socket.remoteAddress === undefined || egress.allowsAddress(socket.remoteAddress)) {
    return { socket, signal, started, connected };
  }
  socket.destroy();
  return refused;
}

/**
 * Sends a hello over a connected socket, passes the answer to `push` until `push` returns true, and closes the socket.
 */
async function exchangeHello(
  socket: Socket,
  hello: Uint8Array,
  options: { readonly push: (chunk: Uint8Array) => boolean; readonly signal: AbortSignal },
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const abort = (): void => resolve({ ending: "open", aborted: true });
  options.signal.addEventListener("abort", abort, { once: true });
  socket.on("data", (chunk: Buffer) => {
    if (options.push(chunk)) resolve({ ending: "open", aborted: false });
  });
  socket.once("end", () => resolve({ ending: "closed", aborted: false }));
  socket.on("error", () => resolve({ ending: "reset", aborted: false }));
  socket.once("close", () => resolve({ ending: "closed", aborted: false }));
  socket.write(hello);
  if (options.signal.aborted) abort();
  const ended = await promise;
  options.signal.removeEventListener("abort", abort);
  socket.destroy();
  return ended;
}

/** Reasons and messages for failed TCP connections by errno name; other errors are "connection_failed". */
const REASONS: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  ECONNREFUSED: ["refused", "The connection was refused"],
  ECONNRESET: ["reset", "The connection was reset during setup"],
  ETIMEDOUT: ["timeout", "The connection timed out"],
  EHOSTUNREACH: ["unreachable", "The host cannot be reached"],
  ENETUNREACH: ["unreachable", "The network cannot be reached"],
  EHOSTDOWN: ["unreachable", "The host is down"],
  EACCES: ["prohibited", "A firewall prohibits the connection"],
  EPERM: ["prohibited", "A firewall prohibits the connection"],
};

/** Errors of this host: descriptors, memory or ports are exhausted, or there is no network. */
const OURS = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL", "ENETDOWN", "EAFNOSUPPORT"]);

/** Opens a TCP connection to an address literal. If `signal` ends the attempt, the caller knows the cause. */
function connectTcp(ip: string, port: number, signal: AbortSignal): Promise<Socket | Failed | "aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve("aborted");
      return;
    }
    const socket = connect({ host: ip, port, noDelay: true });
    const settle = (value: Socket | Failed | "aborted"): void => {
      signal.removeEventListener("abort", abort);
      socket.off("connect", connected).off("error", fail);
      if (value !== socket) {
        socket.on("error", () => undefined);
        socket.destroy();
      }
      resolve(value);
    };
    const abort = (): void => settle("aborted");
    const connected = (): void => settle(socket);
    const fail = (error: NodeJS.ErrnoException): void => settle(connectFailure(error));
    signal.addEventListener("abort", abort, { once: true });
    socket.once("connect", connected).once("error", fail);
  });
}

function connectFailure(error: NodeJS.ErrnoException): Failed {
  const code = error.code ?? "";
  if (OURS.has(code)) return failed("connect", "probe", "local_error", `The probe could not connect: ${code}`);
  const [reason, message] = REASONS[code] ?? ["connection_failed", `The connection failed: ${code || "unknown"}`];
  return failed("connect", "target", reason, message);
}
