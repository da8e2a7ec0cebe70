import { createHash } from "node:crypto";
import { isRecord } from "#shared/is-record.ts";
import { boundedText, readTime } from "#control-plane/expiry/facts/text.ts";

/** What is known about the certificate of a server. */
export interface CertificateFacts {
  /** SHA-256 of the certificate, lower-case hexadecimal. */
  readonly fingerprint: string;
  /** Distinguished names. */
  readonly issuer: string;
  readonly subject: string;
  /** ISO 8601 UTC. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** Digest of its alternative names, to compare certificates. */
  readonly names: string;
  readonly trusted: boolean;
  /** Why it is not trusted, a value of the ssl tool's trust_error; null if it is. */
  readonly trustError: string | null;
  /** Fingerprints of the certificates that were sent with it. */
  readonly chain: readonly string[];
}

const MOST_NAME = 500;
const MOST_WORD = 100;
const MOST_CHAIN = 10;
const FINGERPRINT_BYTES = 32;

/**
 * Reads the whole result of the ssl check of an agent. Returns null if it is not one: agents can be old, broken or
 * hostile, and so can the certificate.
 */
export function readCertificate(whole: unknown): CertificateFacts | null {
  if (!isRecord(whole) || !isRecord(whole["certificate"])) return null;
  const { certificate, chain, trusted, trust_error: trustError } = whole;
  const fingerprint = readFingerprint(certificate["fingerprint_sha256"]);
  const notBefore = readTime(certificate["not_before"]);
  const notAfter = readTime(certificate["not_after"]);
  if (fingerprint === null || notBefore === null || notAfter === null) return null;
  const { san } = certificate;
  const rows = Array.isArray(chain) ? (chain as readonly unknown[]) : [];
  const sent = rows
    .slice(0, MOST_CHAIN)
    .filter((row) => isRecord(row) && row["sent"] === true && row["role"] !== "leaf");
  return {
    fingerprint,
    issuer: boundedText(certificate["issuer"], MOST_NAME) ?? "",
    subject: boundedText(certificate["subject"], MOST_NAME) ?? "",
    notBefore,
    notAfter,
    names: digestNames(Array.isArray(san) ? san : []),
    trusted: trusted === true,
    trustError: boundedText(trustError, MOST_WORD),
    chain: sent.flatMap((row) => (isRecord(row) ? (readFingerprint(row["fingerprint_sha256"]) ?? []) : [])),
  };
}

/** Reads a SHA-256 in hexadecimal; null if it is none. */
function readFingerprint(value: unknown): string | null {
  if (typeof value !== "string" || value.length !== FINGERPRINT_BYTES * 2) return null;
  const lower = value.toLowerCase();
  return Buffer.from(lower, "hex").toString("hex") === lower ? lower : null;
}

function digestNames(names: readonly unknown[]): string {
  const sorted = names.filter((name) => typeof name === "string").map((name) => name.toLowerCase());
  return createHash("sha256").update(JSON.stringify(sorted.toSorted())).digest("base64url");
}
