import { constants } from "node:crypto";
import { isIP, type Socket } from "node:net";
import {
  connect,
  createSecureContext,
  DEFAULT_CIPHERS,
  type DetailedPeerCertificate,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import type { CertificateInput } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { HopTls } from "#probe-agent/port/http.ts";
import { DeadlineError, tlsFailure } from "#probe-agent/net/http/failure.ts";

/** A TLS connection. Its certificate can be invalid: see `tls.authorized`. */
interface Secured {
  readonly socket: TLSSocket;
  readonly tls: HopTls;
}

/**
 * Inputs to verify a certificate. Node's own result is not used: it depends on this host's clock, which can be wrong,
 * and accepts keys and signatures that browsers reject.
 */
export interface Trust {
  /** Trust anchors. Pass the same array each time, so that they are parsed once. */
  readonly roots: readonly CertificateInput[];
  /** The control plane's time. */
  readonly now: () => Date;
}

const MAX_CHAIN = 20;

/**
 * Creates a context that accepts what strict clients reject (TLS 1.0, SHA-1, short keys, no secure renegotiation): a
 * diagnosis must reach broken servers. The result records the outcome. `roots`: PEM texts that replace Node's bundled
 * and extra roots.
 */
export function permissiveContext(roots?: readonly string[]): SecureContext {
  return createSecureContext({
    minVersion: "TLSv1",
    maxVersion: "TLSv1.3",
    ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0`,
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
    ...(roots === undefined ? {} : { ca: [...roots] }),
  });
}

/**
 * Performs the handshake on a connected socket. `host` is the name or IP literal of the URL. A literal is not sent as
 * SNI (RFC 6066 section 3).
 */
export function secure(
  raw: Socket,
  host: string,
  alpn: readonly string[],
  { secureContext, trust, signal }: { secureContext: SecureContext; trust: Trust; signal: AbortSignal },
): Promise<Outcome<Secured>> {
  return new Promise((resolve) => {
    const socket = connect({
      socket: raw,
      host,
      servername: isIP(host) === 0 ? host : "",
      ALPNProtocols: [...alpn],
      rejectUnauthorized: false,
      secureContext,
    });
    const giveUp = () => socket.destroy(new DeadlineError());
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    const settle = (outcome: Outcome<Secured>) => {
      signal.removeEventListener("abort", giveUp);
      socket.off("close", closed);
      resolve(outcome);
    };
    const closed = () => settle(tlsFailure({ code: "ECONNRESET" }, host));
    socket.once("secureConnect", () => settle(ok({ socket, tls: describe(socket, host, trust) })));
    // The listener stays for the life of the socket: a late error without one would end the process.
    socket.on("error", (error) => settle(tlsFailure(error, host)));
    socket.once("close", closed);
  });
}

function describe(socket: TLSSocket, host: string, trust: Trust): HopTls {
  const alpn = socket.alpnProtocol;
  const chain = chainOf(socket);
  const [leaf, ...intermediates] = chain;
  const verification =
    leaf === undefined ? null : verifyServerChain({ leaf, intermediates, roots: trust.roots, host, now: trust.now() });
  return {
    protocol: socket.getProtocol() ?? "unknown",
    cipher: socket.getCipher().standardName,
    alpn: typeof alpn === "string" ? alpn : null,
    group: groupOf(socket),
    authorized: verification !== null && verification.errors.length === 0,
    error: verification === null ? "malformed" : (verification.errors[0] ?? null),
    chain,
    path: verification?.trusted === true ? verification.path.map(({ der }) => der) : [],
  };
}

/** Returns the name of the group; null for finite-field groups, of which Node reports only the size. */
function groupOf(socket: TLSSocket): string | null {
  const key = socket.getEphemeralKeyInfo();
  return key !== null && "name" in key && typeof key.name === "string" && key.name !== "" ? key.name : null;
}

/**
 * Returns the certificates that the server sent, as far as each one links to the next, and the root if the context has
 * it.
 */
function chainOf(socket: TLSSocket): readonly Uint8Array[] {
  const chain: Uint8Array[] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  // The last one is its own issuer. A session without certificates gives an empty object.
  while (certificate?.raw !== undefined && chain.length < MAX_CHAIN) {
    chain.push(certificate.raw);
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    certificate = issuer === certificate ? undefined : issuer;
  }
  return chain;
}
