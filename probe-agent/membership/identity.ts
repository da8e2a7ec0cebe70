import { createHash, createPrivateKey, X509Certificate } from "node:crypto";

/** Credentials of an agent and the authority that verifies a control plane, as PEM texts. */
export interface Credential {
  readonly key: string;
  readonly certificate: string;
  /**
   * The control plane's authority, the only trusted root of these connections; another one follows while that one takes its
   * place, or it that one's.
   */
  readonly ca: string;
}

/** The identity that the control plane has given this agent. */
export interface Identity extends Credential {
  readonly agentId: string;
  /** When the certificate was received, in Unix milliseconds of the control plane's clock. */
  readonly receivedAtMs: number;
  /** SHA-256 of the join token that the agent enrolled with, in lower-case hexadecimal. */
  readonly tokenDigest: string;
}

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9-]{7,63}$/;

/**
 * Finds a fault in an identity; null if its parts match. Does not check validity dates, because the control plane does.
 */
export function findFault(identity: Identity): string | null {
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

/** Returns the SHA-256 of a certificate's DER in lower-case hexadecimal. */
export function fingerprintOf(der: Uint8Array): string {
  return createHash("sha256").update(der).digest("hex");
}

/** Returns the SHA-256 of the certificate of an identity's authority. */
export function fingerprintOfAuthority({ ca }: Credential): string {
  return fingerprintOf(new X509Certificate(ca).raw);
}

/** Reports whether an identity trusts these authorities, given as SHA-256, and no others. */
export function trustsOnly({ ca }: Credential, fingerprints: readonly Uint8Array[]): boolean {
  const trusted = ca
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .map((pem) => fingerprintOf(new X509Certificate(pem).raw));
  const wanted = fingerprints.map((one) => Buffer.from(one).toString("hex"));
  return trusted.toSorted().join(" ") === wanted.toSorted().join(" ");
}

/** Returns the expiry of an identity's certificate in Unix milliseconds. */
export function expiryOf({ certificate }: Credential): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

/**
 * Returns when to request the next certificate, in Unix milliseconds of the control plane's clock: after two thirds of
 * the validity that remained on receipt.
 */
export function renewalDueAt(identity: Identity): number {
  return identity.receivedAtMs + ((expiryOf(identity) - identity.receivedAtMs) * 2) / 3;
}
