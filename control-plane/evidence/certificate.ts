import { isRecord } from "#shared/is-record.ts";
import type { CertificateEvidence } from "#control-plane/evidence/evidence.ts";

/** Reads the certificate from the full result of the check of an http or ssl monitor; null if it has none. */
export function readCertificate(location: string, result: unknown): CertificateEvidence | null {
  if (!isRecord(result)) return null;
  const tls = isRecord(result["tls"]) ? result["tls"] : result;
  const found = tls["certificate"];
  if (!isRecord(found) || typeof found["fingerprint_sha256"] !== "string") return null;
  const error = tls["error"] ?? tls["trust_error"];
  return {
    location,
    trusted: (tls["authorized"] ?? tls["trusted"]) === true,
    trust_error: typeof error === "string" ? error : null,
    subject: textOf(found["subject"]),
    issuer: textOf(found["issuer"]),
    fingerprint_sha256: found["fingerprint_sha256"],
    not_before: textOf(found["not_before"]),
    not_after: textOf(found["not_after"]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
