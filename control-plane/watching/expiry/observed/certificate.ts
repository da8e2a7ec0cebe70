import { createHash } from "node:crypto";
import { isRecord } from "#shared/text/is-record.ts";
import { boundedText, readTime } from "#control-plane/watching/expiry/observed/text.ts";

/** A certificate that a server sends with its own one, and that belongs to the chain. */
interface ChainCertificate {
  readonly role: "intermediate" | "root";
  /** SHA-256 of the certificate, lower-case hexadecimal. */
  readonly fingerprint: string;
  /** Distinguished names. */
  readonly issuer: string;
  readonly subject: string;
  /** ISO 8601 UTC. */
  readonly notBefore: string;
  readonly notAfter: string;
}

/** One of the certificates that a server sends. */
export interface SentCertificate extends Omit<ChainCertificate, "role"> {
  readonly role: ChainCertificate["role"] | "leaf";
}

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
  /** Certificates of the chain that were sent with it. Absent in the facts of earlier releases. */
  readonly above?: readonly ChainCertificate[];
  /** Newest version that the server speaks, as the ssl tool names it; absent: the agent did not say. */
  readonly protocol?: string;
  /** First look in a row that found nothing newer than TLS 1.1, Unix milliseconds; absent: the newest one did. */
  readonly oldTlsSince?: number;
}

/** Versions that browsers refuse (RFC 8996), in the words of people. */
const OLD_VERSIONS: ReadonlyMap<string, string> = new Map([
  ["SSLv3", "SSL 3.0"],
  ["TLSv1", "TLS 1.0"],
  ["TLSv1.1", "TLS 1.1"],
]);

/** Notes since when a server speaks nothing newer than TLS 1.1. An agent that does not say so changes nothing. */
export function noteOldTls(found: CertificateFacts, before: CertificateFacts | null, now: number): CertificateFacts {
  const { protocol = before?.protocol } = found;
  if (protocol === undefined) return found;
  const isOld = OLD_VERSIONS.has(protocol);
  return { ...found, protocol, ...(isOld ? { oldTlsSince: before?.oldTlsSince ?? now } : {}) };
}

/** Says that a server speaks nothing newer than TLS 1.1; null if it does, or it is not known. */
export function describeOldTls({ protocol, oldTlsSince }: CertificateFacts): { since: Date; message: string } | null {
  const version = OLD_VERSIONS.get(protocol ?? "");
  if (version === undefined || oldTlsSince === undefined) return null;
  const message = `The server speaks nothing newer than ${version}; browsers refuse versions before TLS 1.2`;
  return { since: new Date(oldTlsSince), message };
}

const MOST_NAME = 500;
const MOST_CHAIN_NAME = 200;
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
  const protocol = boundedText(whole["protocol"], MOST_WORD);
  const fingerprint = readFingerprint(certificate["fingerprint_sha256"]);
  const notBefore = readTime(certificate["not_before"]);
  const notAfter = readTime(certificate["not_after"]);
  if (fingerprint === null || notBefore === null || notAfter === null) return null;
  const { san } = certificate;
  const rows = Array.isArray(chain) ? (chain as readonly unknown[]) : [];
  return {
    fingerprint,
    issuer: boundedText(certificate["issuer"], MOST_NAME) ?? "",
    subject: boundedText(certificate["subject"], MOST_NAME) ?? "",
    notBefore,
    notAfter,
    names: digestNames(Array.isArray(san) ? san : []),
    trusted: trusted === true,
    trustError: boundedText(trustError, MOST_WORD),
    above: rows.slice(0, MOST_CHAIN).flatMap((row) => readAbove(row) ?? []),
    ...(protocol === null ? {} : { protocol }),
  };
}

/** Returns every certificate of the chain that the server sends, its own one first. */
export function sentCertificates({
  above = [],
  ...facts
}: CertificateFacts): readonly [SentCertificate, ...SentCertificate[]] {
  const { fingerprint, issuer, subject, notBefore, notAfter } = facts;
  return [{ role: "leaf", fingerprint, issuer, subject, notBefore, notAfter }, ...above];
}

/** Returns the certificate of the chain that ends first. */
export function firstToEnd(facts: CertificateFacts): SentCertificate {
  return sentCertificates(facts).reduce((first, next) =>
    Date.parse(next.notAfter) < Date.parse(first.notAfter) ? next : first,
  );
}

/** Reads a row of the chain; null if it is the leaf, was not sent or is of no use to any client. */
function readAbove(row: unknown): ChainCertificate | null {
  if (!isRecord(row) || row["sent"] !== true) return null;
  const { role } = row;
  const fingerprint = readFingerprint(row["fingerprint_sha256"]);
  const notBefore = readTime(row["not_before"]);
  const notAfter = readTime(row["not_after"]);
  if (role !== "intermediate" && role !== "root") return null;
  if (fingerprint === null || notBefore === null || notAfter === null) return null;
  const issuer = boundedText(row["issuer"], MOST_CHAIN_NAME) ?? "";
  const subject = boundedText(row["subject"], MOST_CHAIN_NAME) ?? "";
  return { role, fingerprint, issuer, subject, notBefore, notAfter };
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
