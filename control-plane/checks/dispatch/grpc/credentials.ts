import type { SecureContextOptions, TlsOptions } from "node:tls";
import type { ServerUnaryCall } from "@grpc/grpc-js";
import type { ListenerIdentity, Security } from "#control-plane/checks/dispatch/security.ts";

/** Returns the TLS context: the listener's certificate, and the authorities that must have signed client certificates. */
export function tlsContext({ authorities, chain, privateKey }: ListenerIdentity): SecureContextOptions {
  return { ca: [...authorities], cert: chain, key: privateKey, minVersion: "TLSv1.3" };
}

/** Returns TLS options that request a client certificate but also accept clients without one. Each call checks it. */
export function tlsOptions({ identity }: Pick<Security, "identity">): TlsOptions {
  return {
    ...tlsContext(identity.current()),
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2"],
  };
}

/** A call of any kind, as far as it identifies the client. */
export type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext" | "getPeer">;

/**
 * Returns the client's certificate (DER), verified by the TLS layer as signed by our authority; null if there is none.
 */
export function certificateOf(call: AnyCall): Uint8Array | null {
  return call.getAuthContext().sslPeerCertificate?.raw ?? null;
}
