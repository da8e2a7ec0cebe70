import { getCACertificates } from "node:tls";

let cached: readonly Uint8Array[] | undefined;

/**
 * Returns the DER of every root that Node trusts by default: the bundled ones, NODE_EXTRA_CA_CERTS, and the system's if
 * the process was started with --use-system-ca. Read on first use and kept, because the list cannot change while the
 * process runs.
 */
export function trustedRoots(): readonly Uint8Array[] {
  cached ??= getCACertificates("default").map(fromPem);
  return cached;
}

/** Decodes a PEM text with one certificate to DER. */
export function fromPem(pem: string): Uint8Array {
  return Buffer.from(pem.replaceAll(/-----[A-Z ]+-----/g, ""), "base64");
}
