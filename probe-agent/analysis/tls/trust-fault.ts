import { describeDuration } from "#shared/text/duration.ts";
import type { Redact } from "#shared/text/redact.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { issuerWords, nameWords } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isExpired, isNotYetValid } from "#probe-agent/analysis/tls/certificate/validity.ts";
import type { HopTls } from "#probe-agent/port/http.ts";

const MAX_NAME = 100;

/** Sentences of the faults that need nothing but their name. */
const FIXED: Readonly<Record<string, string>> = {
  malformed: "a certificate of the chain violates RFC 5280",
  self_signed: "the certificate is signed with its own key",
  bad_signature: "a certificate of the chain is not signed by the issuer that it names",
  not_a_ca: "a certificate of the chain issued another one, but is no CA certificate",
  path_too_long: "the chain is longer than one of its authorities allows",
  name_constraints: "an authority of the chain may not issue certificates for these names",
  no_valid_policy: "an authority of the chain requires a certificate policy that is not valid",
  wrong_usage: "a certificate of the chain is not allowed for a TLS server",
  unknown_critical_extension: "a certificate of the chain has a critical extension that clients do not support",
  weak_signature: "a certificate of the chain has a signature that browsers refuse",
  weak_key: "a certificate of the chain has a key that browsers refuse",
};

/**
 * Describes in one line why a session's certificate is not trusted: "certificate expired 3 minutes ago". `host` is the
 * name or address of the URL. `redact`: that of the request, for names of certificates.
 */
export function describeTrustFault({ error, chain, path }: HopTls, host: string, now: Date, redact: Redact): string {
  const certificates = [...chain, ...path].flatMap((der) => parseCertificate(der) ?? []);
  const [leaf] = certificates;
  if (leaf === undefined) return "the server's certificate cannot be read";
  switch (error) {
    case "expired":
      return describeExpiry(certificates, leaf, now);
    case "not_yet_valid": {
      const early = certificates.find((one) => isNotYetValid(one, now)) ?? leaf;
      const ahead = describeDuration(early.notBefore.getTime() - now.getTime());
      return `${nameOf(early, leaf)} becomes valid in ${ahead}`;
    }
    case "missing_intermediate":
      return `the server does not send the certificate of the issuer, ${issuerWords(leaf, now, MAX_NAME, redact)}`;
    case "untrusted_root":
      return `the issuer is not trusted: ${issuerWords(certificates.at(-1) ?? leaf, now, MAX_NAME, redact)}`;
    case "hostname_mismatch":
      return `certificate is for ${nameWords(leaf, now, MAX_NAME, redact)}, not for ${printable(host, MAX_NAME)}`;
    default:
      return FIXED[error ?? ""] ?? `the certificate is not trusted: ${error ?? "unknown fault"}`;
  }
}

/**
 * Names the address at which a certificate was seen, if its host has several: another one can have another certificate.
 * `count`: the addresses of the host.
 */
export function atAddress(words: string, ip: string, count: number): string {
  return count < 2 ? words : `at ${ip}, one of ${count} addresses: ${words}`;
}

function describeExpiry(certificates: readonly Certificate[], leaf: Certificate, now: Date): string {
  const ended = certificates.find((one) => isExpired(one, now)) ?? leaf;
  return `${nameOf(ended, leaf)} expired ${describeDuration(now.getTime() - ended.notAfter.getTime())} ago`;
}

function nameOf(certificate: Certificate, leaf: Certificate): string {
  return certificate === leaf ? "certificate" : "a certificate above the server's";
}
