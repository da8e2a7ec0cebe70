import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { TlsRequest } from "#probe-agent/port/tls.ts";
import { Tap } from "#probe-agent/net/tls/tap.ts";

/** Result of a handshake, with the octets that the server sent. */
export interface Session {
  /** Null if the handshake did not complete. */
  readonly agreed: { readonly protocol: string; readonly cipher: string; readonly alpn: string | null } | null;
  /** Error of the handshake or of the first read after it. */
  readonly error: NodeJS.ErrnoException | null;
  readonly aborted: boolean;
  readonly received: Uint8Array;
  /** Handshake traffic secret of a TLS 1.3 server; null for older versions. */
  readonly secret: Uint8Array | null;
  readonly ending: "open" | "closed" | "reset";
  /** Monotonic milliseconds at completion; null if it did not complete. */
  readonly completedAt: number | null;
}

/**
 * Maximum wait, in milliseconds, for the refusal of a missing client certificate. TLS 1.3 servers send it one round
 * trip after completion.
 */
const REFUSAL_WAIT_MS = 500;

/**
 * Offers everything that OpenSSL supports and verifies no certificate. Anonymous suites are left out because they carry
 * no certificate. Post-quantum groups are left out because some servers hang on a hello with such a key share, and
 * without the share the group costs a round trip.
 */
const PERMISSIVE: ConnectionOptions = {
  rejectUnauthorized: false,
  ciphers: "ALL:!aNULL:@SECLEVEL=0",
  ecdhCurve: "X25519:P-256:P-384:P-521:X448",
  minDHSize: 1,
  secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
  requestOCSP: true,
};

/** OpenSSL's signature algorithms by type of key. */
const SIGNED_BY = {
  RSA: "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512:RSA+SHA1",
  ECDSA: "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ECDSA+SHA1",
} as const;

/** The client's offer. */
type SessionRequest = Pick<TlsRequest, "servername" | "alpn" | "minVersion" | "maxVersion" | "signedBy">;

/** Options of a handshake beside the request. */
interface HandshakeOptions {
  readonly signal: AbortSignal;
  monotonic(): number;
  /** Reports, after completion, whether the server requested a client certificate and can still refuse its absence. */
  waitsForRefusal(received: Uint8Array, secret: Uint8Array | null): boolean;
}

/** A finished handshake and its connection. */
interface OpenSession {
  readonly session: Session;
  /** Usable if the handshake completed. */
  readonly socket: TLSSocket;
  /** Closes the connection: with close_notify if the session is open, else immediately. */
  readonly close: () => void;
}

/** Performs one handshake on a connected socket and ends the connection. */
export async function handshake(socket: Socket, request: SessionRequest, options: HandshakeOptions): Promise<Session> {
  const opened = await openSession(socket, request, options);
  opened.close();
  return opened.session;
}

/**
 * Performs one handshake on a connected socket that has no other reader. `terms` say what is offered and verified; a
 * certificate that they refuse is an error of the handshake.
 */
export async function openSession(
  socket: Socket,
  request: SessionRequest,
  options: HandshakeOptions,
  terms: ConnectionOptions = PERMISSIVE,
): Promise<OpenSession> {
  const tap = new Tap(socket);
  tap.on("error", () => undefined);
  const tls = connect({ ...terms, ...requested(request), socket: tap });
  let secret: Uint8Array | null = null;
  tls.on("keylog", (line) => {
    secret = handshakeSecret(line) ?? secret;
  });
  const seen = { agreed: null as Session["agreed"], completedAt: null as number | null };
  const secured = (): "done" | "wait" => {
    seen.completedAt = options.monotonic();
    seen.agreed = agreement(tls);
    return options.waitsForRefusal(tap.received(), secret) ? "wait" : "done";
  };
  const { error, aborted } = await outcome(tls, options.signal, secured);
  const session = { ...seen, error, aborted, received: tap.received(), secret, ending: tap.ending() };
  return { session, socket: tls, close: () => close(tls, tap, error === null && !aborted) };
}

interface Ending {
  readonly error: NodeJS.ErrnoException | null;
  readonly aborted: boolean;
}

/** Resolves at completion (and the wait that `secured` requests after it), at failure, or at abort. */
function outcome(tls: TLSSocket, signal: AbortSignal, secured: () => "done" | "wait"): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  let completed = false;
  let refusal: NodeJS.Timeout | undefined;
  const settle = (error: NodeJS.ErrnoException | null, aborted = false): void => {
    clearTimeout(refusal);
    signal.removeEventListener("abort", abort);
    resolve({ error, aborted });
  };
  const abort = (): void => settle(null, !completed);
  const ended = (): void => settle(new Error("the connection ended"));
  signal.addEventListener("abort", abort, { once: true });
  tls.on("error", settle).once("close", ended);
  tls.once("secureConnect", () => {
    completed = true;
    if (secured() === "done") {
      settle(null);
      return;
    }
    refusal = setTimeout(() => settle(null), REFUSAL_WAIT_MS);
    // Only reading reveals the refusal or the end.
    tls.once("data", () => settle(null)).once("end", ended);
  });
  if (signal.aborted) abort();
  return promise;
}

function agreement(tls: TLSSocket): Session["agreed"] {
  const cipher = tls.getCipher();
  const alpn = typeof tls.alpnProtocol === "string" ? tls.alpnProtocol : null;
  return { protocol: tls.getProtocol() ?? "unknown", cipher: cipher.standardName || cipher.name, alpn };
}

function requested(request: SessionRequest): ConnectionOptions {
  return {
    minVersion: request.minVersion ?? "TLSv1",
    maxVersion: request.maxVersion ?? "TLSv1.3",
    ...(request.servername === null ? {} : { servername: request.servername }),
    ...(request.signedBy === undefined ? {} : { sigalgs: SIGNED_BY[request.signedBy] }),
    ...(request.alpn === undefined ? {} : { ALPNProtocols: [...request.alpn] }),
  };
}

/** Reads the server's handshake secret from a line of the NSS key log format. */
function handshakeSecret(line: Buffer): Uint8Array | null {
  const [label, , secret] = line.toString("latin1").trim().split(" ");
  return label === "SERVER_HANDSHAKE_TRAFFIC_SECRET" && secret !== undefined ? Buffer.from(secret, "hex") : null;
}

/** Sends close_notify if the session is open, so that servers log no error, and closes the socket within a second. */
function close(tls: TLSSocket, tap: Tap, politely: boolean): void {
  if (politely) tls.end();
  const drop = (): void => {
    tls.destroy();
    tap.destroy();
  };
  if (politely) setTimeout(drop, 1000).unref();
  else drop();
}
