import type { AdviceTable, FindingDraft } from "#probe-agent/analysis/text/findings.ts";

const RFC = "https://www.rfc-editor.org/rfc";
const MDN = "https://developer.mozilla.org/en-US/docs/Web";
const MOZILLA_TLS = "https://wiki.mozilla.org/Security/Server_Side_TLS";
const RENEW = "Renew the certificate now, and set up automatic renewal (for example with an ACME client).";
const MODERN_SUITES =
  "Offer only ECDHE suites with AES-GCM or ChaCha20-Poly1305, e.g. nginx: ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;";
const STAPLE = "Turn on OCSP stapling (nginx: ssl_stapling on;) and allow the server to reach the responder.";

/** Severity and advice for every kind of finding that does not decide trust. */
export const SSL_ADVICE = {
  "handshake-failed": {
    severity: "critical",
    how: "Read the server's error log at the time of this check: the server ended the handshake after sending its certificate.",
    reference: `${RFC}/rfc8446#section-6`,
  },
  "client-certificate": {
    severity: "info",
    how: "Request client certificates only if visitors have them, e.g. nginx: ssl_verify_client off;",
    reference: `${RFC}/rfc8446#section-4.3.2`,
  },
  "expires-soon": { severity: "warning", how: RENEW, reference: `${RFC}/rfc5280#section-4.1.2.5` },
  "chain-expires-soon": {
    severity: "warning",
    how: "Install the authority's current intermediate certificates, or renew the certificate under a newer one.",
    reference: `${RFC}/rfc5280#section-4.1.2.5`,
  },
  "long-lifetime": {
    severity: "info",
    how: "Request a new certificate with a lifetime within the limit.",
    reference: "https://cabforum.org/working-groups/server/baseline-requirements/",
  },
  "weak-signature-sent": {
    severity: "warning",
    how: "Remove the certificate from the chain, or replace it with one that is signed with SHA-256.",
    reference: `${RFC}/rfc9155`,
  },
  "chain-order": {
    severity: "warning",
    how: "Order the certificate file: the server's certificate first, then the issuer of each certificate before it.",
    reference: `${RFC}/rfc8446#section-4.4.2`,
  },
  "path-building": {
    severity: "warning",
    how: "Send only the chain the authority recommends, without older cross-signed certificates.",
    reference: `${RFC}/rfc4158`,
  },
  "issuer-unknown": {
    severity: "info",
    how: "Send the authority's intermediate certificate together with the server's own.",
    reference: `${RFC}/rfc8446#section-4.4.2`,
  },
  "certificate-form": {
    severity: "critical",
    how: "Request a new certificate from an authority that follows RFC 5280.",
    reference: `${RFC}/rfc5280#section-4`,
  },
  "strict-clients": {
    severity: "warning",
    how: "Request new certificates, with the missing extensions, in place of the named ones.",
    reference: `${RFC}/rfc5280#section-4.2`,
  },
  "edwards-key": {
    severity: "critical",
    how: "Use a certificate with a P-256 or RSA 2048 key.",
    reference: MOZILLA_TLS,
  },
  "root-sent": {
    severity: "info",
    how: "Remove the root from the certificate file.",
    reference: `${RFC}/rfc8446#section-4.4.2`,
  },
  "extra-certificate": {
    severity: "info",
    how: "Remove the certificates at these positions from the certificate file.",
    reference: `${RFC}/rfc8446#section-4.4.2`,
  },
  "no-staple": { severity: "critical", how: STAPLE, reference: `${RFC}/rfc7633` },
  "stale-staple": { severity: "warning", how: STAPLE, reference: `${RFC}/rfc6960#section-4.2.2.1` },
  "bad-staple": { severity: "warning", how: STAPLE, reference: `${RFC}/rfc6960#section-3.2` },
  "bad-sct": {
    severity: "warning",
    how: "Request a new certificate; the authority embeds valid timestamps.",
    reference: `${RFC}/rfc6962#section-3.2`,
  },
  "dane-mismatch": {
    severity: "warning",
    how: "Publish a TLSA record for the current certificate or key (3 1 1 and the SHA-256 of the public key), or remove the records.",
    reference: `${RFC}/rfc7671#section-5.1`,
  },
  "old-protocol": {
    severity: "warning",
    how: "Turn off SSL 3, TLS 1.0 and TLS 1.1, e.g. nginx: ssl_protocols TLSv1.2 TLSv1.3;",
    reference: `${RFC}/rfc8996`,
  },
  "no-modern-protocol": {
    severity: "critical",
    how: "Turn on TLS 1.2 and TLS 1.3, e.g. nginx: ssl_protocols TLSv1.2 TLSv1.3;",
    reference: `${RFC}/rfc9325#section-3.1`,
  },
  "no-tls1-3": {
    severity: "info",
    how: "Turn on TLS 1.3, e.g. nginx: ssl_protocols TLSv1.2 TLSv1.3;",
    reference: `${RFC}/rfc8446`,
  },
  "broken-cipher": { severity: "warning", how: MODERN_SUITES, reference: `${RFC}/rfc9325#section-4.1` },
  "weak-cipher": { severity: "warning", how: MODERN_SUITES, reference: "https://sweet32.info/" },
  "static-key-exchange": { severity: "info", how: MODERN_SUITES, reference: `${RFC}/rfc9325#section-4.1` },
  "no-forward-secrecy": { severity: "warning", how: MODERN_SUITES, reference: `${RFC}/rfc9325#section-4.1` },
  "no-aead": { severity: "warning", how: MODERN_SUITES, reference: `${RFC}/rfc9325#section-4.2` },
  "weak-dh": {
    severity: "warning",
    how: "Use ECDHE, or Diffie-Hellman parameters of at least 2048 bits (RFC 7919), e.g. nginx: ssl_dhparam ffdhe2048.pem;",
    reference: "https://weakdh.org/",
  },
  "weak-group": {
    severity: "warning",
    how: "Offer only X25519, P-256 and larger groups, e.g. nginx: ssl_ecdh_curve X25519:prime256v1:secp384r1;",
    reference: `${RFC}/rfc8422#section-5.1.1`,
  },
  compression: { severity: "warning", how: "Turn off TLS compression.", reference: `${RFC}/rfc9325#section-3.3` },
  "no-secure-renegotiation": {
    severity: "warning",
    how: "Update the TLS library, or turn off renegotiation.",
    reference: `${RFC}/rfc5746`,
  },
  "no-fallback-scsv": { severity: "info", how: "Update the TLS library.", reference: `${RFC}/rfc7507` },
  "no-hsts": {
    severity: "info",
    how: "Send Strict-Transport-Security: max-age=31536000; includeSubDomains",
    reference: `${MDN}/HTTP/Reference/Headers/Strict-Transport-Security`,
  },
  "short-hsts": {
    severity: "info",
    how: "Send Strict-Transport-Security: max-age=31536000; includeSubDomains",
    reference: `${MDN}/HTTP/Reference/Headers/Strict-Transport-Security`,
  },
  "other-certificate-untrusted": {
    severity: "critical",
    how: "Replace this certificate in the same way as the first one: same names, same authority, same chain file.",
    reference: `${RFC}/rfc8446#section-4.4.2.2`,
  },
} as const satisfies AdviceTable<string>;

/** A finding that does not decide trust. */
export type SslDraft = FindingDraft<keyof typeof SSL_ADVICE>;
