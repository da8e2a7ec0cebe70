import { getCACertificates } from "node:tls";

let cached: readonly Uint8Array[] | undefined;

/**
 * DER of every root Node trusts by default: the bundled ones, NODE_EXTRA_CA_CERTS, and the system's where the process
 * was started with --use-system-ca. Read on first use and kept: the list cannot change while the process lives.
 */
export function trustedRoots(): readonly Uint8Array[] {
  cached ??= getCACertificates("default").map(fromPem);
  return cached;
}

/** DER of a PEM text with one certificate. */
export function fromPem(pem: string): Uint8Array {
  return Buffer.from(pem.replaceAll(/-----[A-Z ]+-----/g, ""), "base64");
}
