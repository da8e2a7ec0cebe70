import { constants } from "node:crypto";
import { isIP, type Socket } from "node:net";
import { connect, createSecureContext, DEFAULT_CIPHERS, type SecureContext, type TLSSocket } from "node:tls";
import { ok, type Outcome } from "#shared/outcome.ts";
import type { HopTls } from "#probe-agent/net/port/http.ts";
import { DeadlineError, tlsFailure } from "#probe-agent/net/http/failure.ts";

/** A TLS connection whose certificate may well be bad: see `tls.authorized`. */
export interface Secured {
  readonly socket: TLSSocket;
  readonly tls: HopTls;
}

/**
 * Lets in what strict clients refuse (TLS 1.0, SHA-1, short keys, no secure renegotiation): a diagnosis looks at
 * broken servers. The verdict is recorded instead. `roots`: PEM texts in place of Node's (bundled and extra) ones.
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

/** Handshake on a connected socket. `host` is the name or literal of the URL; literals are sent no SNI (RFC 6066 3). */
export function secure(
  raw: Socket,
  host: string,
  alpn: readonly string[],
  context: SecureContext,
  signal: AbortSignal,
): Promise<Outcome<Secured>> {
  return new Promise((resolve) => {
    const socket = connect({
      socket: raw,
      host,
      servername: isIP(host) === 0 ? host : "",
      ALPNProtocols: [...alpn],
      rejectUnauthorized: false,
      secureContext: context,
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
    socket.once("secureConnect", () => settle(ok({ socket, tls: describe(socket) })));
    // Stays for the socket's life: a late error must find a listener.
    socket.on("error", (error) => settle(tlsFailure(error, host)));
    socket.once("close", closed);
  });
}

function describe(socket: TLSSocket): HopTls {
  const alpn = socket.alpnProtocol;
  return {
    protocol: socket.getProtocol() ?? "unknown",
    cipher: socket.getCipher().standardName,
    alpn: typeof alpn === "string" ? alpn : null,
    authorized: socket.authorized,
    error: socket.authorized ? null : trustError(socket.authorizationError),
  };
}

/** Words of decisions 5 (`ssl.trust_error`) for OpenSSL's verify codes. */
const TRUST_ERRORS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "expired",
  CERT_NOT_YET_VALID: "not_yet_valid",
  DEPTH_ZERO_SELF_SIGNED_CERT: "self_signed",
  SELF_SIGNED_CERT_IN_CHAIN: "untrusted_root",
  UNABLE_TO_GET_ISSUER_CERT: "untrusted_root",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "untrusted_root",
  CERT_UNTRUSTED: "untrusted_root",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "missing_intermediate",
  CA_MD_TOO_WEAK: "weak_signature",
  CA_KEY_TOO_SMALL: "weak_key",
  EE_KEY_TOO_SMALL: "weak_key",
  CERT_REVOKED: "revoked",
  HOSTNAME_MISMATCH: "hostname_mismatch",
  ERR_TLS_CERT_ALTNAME_INVALID: "hostname_mismatch",
};

/** Node hands over the code as text, or an Error that has it. */
function trustError(error: unknown): string {
  const code = typeof error === "string" ? error : ((error as { code?: string } | null)?.code ?? "unknown");
  return TRUST_ERRORS[code] ?? code.toLowerCase();
}
