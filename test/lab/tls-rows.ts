import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import type { StatusMethod } from "#test/lab/openssl-status.ts";

type Ssl = ResultOf<typeof ssl>;

/** A server that sends a certificate, with its expected result and OpenSSL's verification code. */
export interface Row {
  readonly variant: string;
  /** X509_V_ERR number (openssl-verification-options(1)). */
  readonly code: number;
  /** Whether clients that build paths trust it although OpenSSL does not. */
  readonly trustedAllTheSame?: boolean;
  /** Differences from a good server. */
  readonly ssl: Partial<Ssl>;
  readonly warnings?: readonly string[];
  readonly protocol?: string;
  readonly versions?: readonly (keyof Ssl["protocols"])[];
  readonly cipher?: string;
  readonly alpn?: string;
  /** Accepted suites by version, in OpenSSL's names. Default: those of an ECDSA key. */
  readonly suites?: Readonly<Record<string, readonly string[]>>;
  /** Accepted groups. Default: all that OpenSSL offers. */
  readonly groups?: readonly string[];
  /** Default: A, to which the missing HSTS limits a good server. */
  readonly grade?: NonNullable<Ssl["grade"]>;
}

const TLS13 = ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];
/** ALL:!aNULL at security level 0, with an ECDSA and with an RSA key. */
const ECDSA = `AES256-GCM-SHA384 CHACHA20-POLY1305 AES256-CCM ARIA256-GCM-SHA384 AES128-GCM-SHA256 AES128-CCM
  ARIA128-GCM-SHA256 AES256-CCM8 AES128-CCM8 AES256-SHA384 CAMELLIA256-SHA384 AES128-SHA256 CAMELLIA128-SHA256 AES256-SHA
  AES128-SHA`
  .split(/\s+/)
  .map((suite) => `ECDHE-ECDSA-${suite}`);
const ECDHE_RSA =
  `RSA-AES256-GCM-SHA384 RSA-CHACHA20-POLY1305 ARIA256-GCM-SHA384 RSA-AES128-GCM-SHA256 ARIA128-GCM-SHA256
  RSA-AES256-SHA384 RSA-CAMELLIA256-SHA384 RSA-AES128-SHA256 RSA-CAMELLIA128-SHA256 RSA-AES256-SHA RSA-AES128-SHA`
    .split(/\s+/)
    .map((suite) => `ECDHE-${suite}`);
const STATIC_RSA = `AES256-GCM-SHA384 AES256-CCM ARIA256-GCM-SHA384 AES128-GCM-SHA256 AES128-CCM ARIA128-GCM-SHA256
  AES256-CCM8 AES128-CCM8 AES256-SHA256 CAMELLIA256-SHA256 AES128-SHA256 CAMELLIA128-SHA256 AES256-SHA CAMELLIA256-SHA
  AES128-SHA CAMELLIA128-SHA`.split(/\s+/);
/** Node's default with weak keys allowed (test/servers/http.ts), with an ECDSA key. */
const DEFAULT_ECDSA =
  "AES256-GCM-SHA384 CHACHA20-POLY1305 AES128-GCM-SHA256 AES256-SHA384 AES128-SHA256 AES256-SHA AES128-SHA"
    .split(" ")
    .map((suite) => `ECDHE-ECDSA-${suite}`);

/** Suites that most rows accept. */
export const USUAL = {
  suites: { "TLSv1.3": TLS13, "TLSv1.2": ECDSA },
  groups: ["X25519", "P-256", "X448", "P-384", "P-521", "ffdhe2048", "ffdhe3072", "X25519MLKEM768"],
} as const satisfies Pick<Row, "suites" | "groups">;

/** Before TLS 1.3 an ECDSA key restricts the client to its own curve (RFC 8422 section 5.1.1). */
const OLD_GROUPS = ["X25519", "P-256"];

/** Result of the ssl tool for a good server. */
export const GOOD = {
  trusted: true,
  trust_error: null,
  chain_trusted: true,
  chain_complete: true,
  chain_ordered: true,
  contains_root: false,
  missing_intermediate: false,
  hostname_match: true,
  client_certificate_requested: false,
  handshake_error: null,
} satisfies Partial<Ssl>;

/** Returns the result of a server with one fault that breaks the chain. */
function untrusted(word: string): Partial<Ssl> {
  return { trusted: false, chain_trusted: false, trust_error: word };
}

/** Every server of the table that sends a certificate without requesting the client's. */
export const ROWS: readonly Row[] = [
  { variant: "good", code: 0, ssl: {} },
  { variant: "expired", code: 10, ssl: untrusted("expired"), grade: "T" },
  { variant: "not-yet-valid", code: 9, ssl: untrusted("not_yet_valid"), grade: "T" },
  { variant: "expiring-soon", code: 0, ssl: {}, warnings: ["expires-soon"] },
  {
    variant: "wrong-host",
    code: 62,
    ssl: { trusted: false, hostname_match: false, trust_error: "hostname_mismatch" },
    grade: "M",
  },
  { variant: "self-signed", code: 18, ssl: untrusted("self_signed"), grade: "T" },
  {
    variant: "untrusted-root",
    code: 19,
    ssl: { ...untrusted("untrusted_root"), contains_root: true },
    grade: "T",
    warnings: ["root-sent"],
  },
  {
    variant: "missing-intermediate",
    code: 20,
    ssl: { ...untrusted("missing_intermediate"), missing_intermediate: true, chain_complete: false },
    grade: "T",
  },
  {
    variant: "unknown-issuer",
    code: 20,
    ssl: { ...untrusted("untrusted_root"), chain_complete: false },
    grade: "T",
    warnings: ["issuer-unknown"],
  },
  // OpenSSL follows the foreign certificate, which is sent first, and never tries another path.
  {
    variant: "cross-signed",
    code: 20,
    trustedAllTheSame: true,
    ssl: { chain_ordered: false },
    warnings: ["chain-order", "path-building"],
  },
  {
    variant: "wrong-order",
    code: 0,
    ssl: { chain_ordered: false, contains_root: true },
    warnings: ["chain-order", "root-sent"],
  },
  {
    variant: "rsa1024",
    code: 66,
    ssl: untrusted("weak_key"),
    warnings: ["static-key-exchange"],
    suites: { "TLSv1.3": TLS13, "TLSv1.2": [...ECDHE_RSA, ...STATIC_RSA] },
    grade: "T",
  },
  { variant: "sha1", code: 68, ssl: untrusted("weak_signature"), warnings: [], grade: "T" },
  // OpenSSL does not require a staple from a server that promised one. We report it and still trust the certificate.
  { variant: "must-staple", code: 0, ssl: {}, warnings: ["no-staple"] },
  { variant: "tls13-only", code: 0, ssl: {}, versions: ["tls1_3"], suites: { "TLSv1.3": TLS13 } },
  {
    variant: "tls10-only",
    code: 0,
    ssl: {},
    warnings: ["no-modern-protocol", "old-protocol", "no-aead"],
    protocol: "TLSv1",
    versions: ["tls1_0"],
    cipher: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    suites: { TLSv1: ["ECDHE-ECDSA-AES256-SHA", "ECDHE-ECDSA-AES128-SHA"] },
    groups: OLD_GROUPS,
    grade: "C",
  },
  {
    variant: "cbc-only",
    code: 0,
    ssl: {},
    warnings: ["no-aead", "no-tls1-3"],
    protocol: "TLSv1.2",
    versions: ["tls1_2"],
    cipher: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    suites: { "TLSv1.2": ["ECDHE-ECDSA-AES128-SHA256"] },
    groups: OLD_GROUPS,
    grade: "B",
  },
  { variant: "http1-only", code: 0, ssl: {}, alpn: "http/1.1" },
  { variant: "status-good", code: 0, ssl: {} },
  { variant: "staple-good", code: 0, ssl: {} },
  { variant: "staple-must", code: 0, ssl: {} },
  { variant: "h3", code: 0, ssl: {}, alpn: "h2", suites: { "TLSv1.3": TLS13, "TLSv1.2": DEFAULT_ECDSA } },
];

/** A server whose certificate has an available status, and that status. */
export interface StatusRow {
  readonly variant: string;
  readonly method: StatusMethod;
  readonly status: "good" | "revoked";
}

/** Every server of the table that names a responder or a list, by the source of its status. */
export const STATUS_ROWS: readonly StatusRow[] = [
  { variant: "status-good", method: "ocsp", status: "good" },
  { variant: "revoked", method: "ocsp", status: "revoked" },
  { variant: "revoked-by-list", method: "crl", status: "revoked" },
  { variant: "staple-good", method: "staple", status: "good" },
  { variant: "staple-must", method: "staple", status: "good" },
  { variant: "staple-revoked", method: "staple", status: "revoked" },
];
