import { createHash, createPrivateKey, X509Certificate } from "node:crypto";

/** What an agent shows a control plane, and how it knows one: PEM texts. */
export interface Credential {
  readonly key: string;
  readonly certificate: string;
  /** The control plane's own authority, the only root that counts on this wire. */
  readonly ca: string;
}

/** Who the control plane has made this agent. */
export interface Identity extends Credential {
  readonly agentId: string;
  /** When the certificate came, by the control plane's clock, Unix milliseconds. */
  readonly receivedAtMs: number;
  /** Of the join token it came by (join-token.ts). */
  readonly tokenDigest: string;
}

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9-]{7,63}$/;

/** What is wrong with an identity; null: its parts belong together. Dates are the control plane's business. */
export function faultOf(identity: Identity): string | null {
  const { agentId, key, certificate, ca, receivedAtMs } = identity;
  if (!AGENT_ID.test(agentId)) return "the agent's id is none";
  if (!Number.isSafeInteger(receivedAtMs)) return "it does not say when its certificate came";
  try {
    const own = new X509Certificate(certificate);
    const root = new X509Certificate(ca);
    if (!own.checkPrivateKey(createPrivateKey(key))) return "key and certificate do not belong together";
    if (!own.checkIssued(root) || !own.verify(root.publicKey)) return "the certificate is not of its authority";
    return null;
  } catch {
    return "key or certificate cannot be read";
  }
}

/** SHA-256 of a certificate's DER, lower-case hex. */
export function fingerprintOf(der: Uint8Array): string {
  return createHash("sha256").update(der).digest("hex");
}

/** SHA-256 of the certificate of the authority that an identity is of. */
export function fingerprintOfAuthority({ ca }: Credential): string {
  return fingerprintOf(new X509Certificate(ca).raw);
}

/** End of an identity's certificate, Unix milliseconds. */
export function expiryOf({ certificate }: Credential): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

/**
 * When to ask for the next certificate, Unix milliseconds by the control plane's clock: at two thirds of what was left
 * of its life on receipt (decisions 7).
 */
export function renewalDueAt(identity: Identity): number {
  return identity.receivedAtMs + ((expiryOf(identity) - identity.receivedAtMs) * 2) / 3;
}
