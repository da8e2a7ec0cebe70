import { createHash, createPrivateKey, X509Certificate } from "node:crypto";

/** The credentials of an agent and the authority that verifies a control plane, as PEM texts. */
export interface Credential {
  readonly key: string;
  readonly certificate: string;
  /** The control plane's own authority, the only trusted root of these connections. */
  readonly ca: string;
}

/** The identity that the control plane has given this agent. */
export interface Identity extends Credential {
  readonly agentId: string;
  /** When the certificate was received, by the control plane's clock, Unix milliseconds. */
  readonly receivedAtMs: number;
  /** SHA-256 of the join token that the agent enrolled with, lower-case hex. */
  readonly tokenDigest: string;
}

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9-]{7,63}$/;

/** Finds a fault in an identity; null: its parts match. Does not check validity dates, as the control plane does. */
export function faultOf(identity: Identity): string | null {
  const { agentId, key, certificate, ca, receivedAtMs } = identity;
  if (!AGENT_ID.test(agentId)) return "the agent id is malformed";
  if (!Number.isSafeInteger(receivedAtMs)) return "the time of receipt is missing";
  try {
    const own = new X509Certificate(certificate);
    const root = new X509Certificate(ca);
    if (!own.checkPrivateKey(createPrivateKey(key))) return "the certificate does not match the key";
    if (!own.checkIssued(root) || !own.verify(root.publicKey)) return "the certificate was not issued by the authority";
    return null;
  } catch {
    return "the key or a certificate is not valid PEM";
  }
}

/** SHA-256 of a certificate's DER, lower-case hex. */
export function fingerprintOf(der: Uint8Array): string {
  return createHash("sha256").update(der).digest("hex");
}

/** Returns the SHA-256 of the certificate of an identity's authority. */
export function fingerprintOfAuthority({ ca }: Credential): string {
  return fingerprintOf(new X509Certificate(ca).raw);
}

/** End of an identity's certificate, Unix milliseconds. */
export function expiryOf({ certificate }: Credential): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

/**
 * Returns when to request the next certificate, Unix milliseconds by the control plane's clock: after two thirds of the
 * life that remained on receipt.
 */
export function renewalDueAt(identity: Identity): number {
  return identity.receivedAtMs + ((expiryOf(identity) - identity.receivedAtMs) * 2) / 3;
}
