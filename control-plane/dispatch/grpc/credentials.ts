import type { SecureContextOptions, TlsOptions } from "node:tls";
import type { ServerUnaryCall } from "@grpc/grpc-js";
import type { ListenerIdentity, Security } from "#control-plane/dispatch/security.ts";

/** What the listener shows, and the authority that client certificates are held to. */
export function tlsContext(authority: string, { chain, privateKey }: ListenerIdentity): SecureContextOptions {
  return { ca: authority, cert: chain, key: privateKey, minVersion: "TLSv1.3" };
}

/** Asks every client for a certificate and lets those without one in: who may do what is decided by call. */
export function tlsOptions({ authority, identity }: Pick<Security, "authority" | "identity">): TlsOptions {
  return {
    ...tlsContext(authority, identity.current()),
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2"],
  };
}

/** What is known of the other end of a call, whatever its kind. */
export type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext" | "getPeer">;

/** The client's certificate (DER), where the TLS layer found it valid and of our authority. */
export function certificateOf(call: AnyCall): Uint8Array | null {
  return call.getAuthContext().sslPeerCertificate?.raw ?? null;
}
