import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";

type Ssl = ResultOf<typeof ssl>;

/** A server that shows a certificate, and what must be said of it beside OpenSSL's verification code. */
export interface Row {
  readonly variant: string;
  /** X509_V_ERR number (openssl-verification-options(1)). */
  readonly code: number;
  /** What differs from a good server. */
  readonly ssl: Partial<Ssl>;
  readonly warnings?: readonly string[];
  readonly protocol?: string;
  readonly versions?: readonly (keyof Ssl["protocols"])[];
  readonly cipher?: string;
  readonly alpn?: string;
}

/** What the ssl tool says of a good server. */
export const GOOD = {
  trusted: true,
  trust_error: null,
  errors: [],
  chain_trusted: true,
  chain_complete: true,
  chain_ordered: true,
  contains_root: false,
  missing_intermediate: false,
  hostname_match: true,
  client_certificate_requested: false,
  handshake_error: null,
} satisfies Partial<Ssl>;

/** Bad for one reason, which breaks the chain. */
function untrusted(word: string): Partial<Ssl> {
  return { trusted: false, chain_trusted: false, trust_error: word, errors: [word] };
}

/** Every server of the table that shows a certificate without asking for the client's. */
export const ROWS: readonly Row[] = [
  { variant: "good", code: 0, ssl: {} },
  { variant: "expired", code: 10, ssl: untrusted("expired") },
  { variant: "not-yet-valid", code: 9, ssl: untrusted("not_yet_valid") },
  { variant: "expiring-soon", code: 0, ssl: {}, warnings: ["expires_soon"] },
  {
    variant: "wrong-host",
    code: 62,
    ssl: { trusted: false, hostname_match: false, trust_error: "hostname_mismatch", errors: ["hostname_mismatch"] },
  },
  { variant: "self-signed", code: 18, ssl: untrusted("self_signed") },
  {
    variant: "untrusted-root",
    code: 19,
    ssl: { ...untrusted("untrusted_root"), contains_root: true },
    warnings: ["root_sent"],
  },
  {
    variant: "missing-intermediate",
    code: 20,
    ssl: { ...untrusted("missing_intermediate"), missing_intermediate: true, chain_complete: false },
  },
  {
    variant: "wrong-order",
    code: 0,
    ssl: { chain_ordered: false, contains_root: true },
    warnings: ["chain_order", "root_sent"],
  },
  { variant: "rsa1024", code: 66, ssl: untrusted("weak_key"), warnings: ["static_key_exchange"] },
  { variant: "sha1", code: 68, ssl: untrusted("weak_signature"), warnings: ["weak_signature"] },
  // OpenSSL does not hold a server to its promise to staple; we say so without distrust.
  { variant: "must-staple", code: 0, ssl: {}, warnings: ["no_staple"] },
  { variant: "tls13-only", code: 0, ssl: {}, versions: ["tls1_3"] },
  {
    variant: "tls10-only",
    code: 0,
    ssl: {},
    warnings: ["no_modern_protocol", "old_protocol", "no_aead"],
    protocol: "TLSv1",
    versions: ["tls1_0"],
    cipher: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
  },
  {
    variant: "cbc-only",
    code: 0,
    ssl: {},
    warnings: ["no_aead", "no_tls1_3"],
    protocol: "TLSv1.2",
    versions: ["tls1_2"],
    cipher: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
  },
  { variant: "http1-only", code: 0, ssl: {}, alpn: "http/1.1" },
];
