import { ServerCredentials, type ServerUnaryCall } from "@grpc/grpc-js";
import type { ListenerIdentity, Security } from "#control-plane/dispatch/security.ts";

const HANDSHAKE_TIMEOUT_MS = 5_000;

/** Asks every client for a certificate and lets those without one in: who may do what is decided by call. */
export class AgentCredentials extends ServerCredentials {
  constructor({ authority, identity }: Security) {
    const context = ({ chain, privateKey }: ListenerIdentity) =>
      ({ ca: authority, cert: chain, key: privateKey, minVersion: "TLSv1.3" }) as const;
    super(
      { requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
      context(identity.current()),
    );
    identity.onRenew((renewed) => this.updateSecureContextOptions(context(renewed)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

/** What is known of the other end of a call, whatever its kind. */
export type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext" | "getPeer">;

/** The client's certificate (DER), where the TLS layer found it valid and of our authority. */
export function certificateOf(call: AnyCall): Uint8Array | null {
  return call.getAuthContext().sslPeerCertificate?.raw ?? null;
}
