import type { Redact } from "#shared/text/redact.ts";
import { adviseOn, finding, type AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { ChainVerification } from "#probe-agent/analysis/tls/certificate.ts";
import { isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import {
  describeCertificate,
  describeChainCertificate,
  issuerWords,
  nameWords,
} from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isStrongKey, isWeakSignature, keyFacts, signatureName } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { TRUST_ERRORS, type TrustError } from "#probe-agent/analysis/tls/certificate/policy.ts";
import { isExpired, isNotYetValid } from "#probe-agent/analysis/tls/certificate/validity.ts";
import { describeRevocation, type RevocationReport } from "#probe-agent/analysis/tls/ssl/revocation.ts";

/** Input of decideTrust. */
interface TrustFacts {
  readonly leaf: Certificate;
  /** Host name or address that was checked. */
  readonly host: string;
  readonly verification: ChainVerification;
  /** Null if revocation was not checked. */
  readonly revocation: Pick<RevocationReport, "revoked" | "revocation"> | null;
  readonly now: Date;
  /** For names of certificates in messages: that of the monitor; unredacted for tools, which send no secrets. */
  readonly redact: Redact;
}

/** Whether a current browser trusts the certificate, and the reasons if not. */
interface Trust {
  readonly trusted: boolean;
  /** The most severe reason; null if trusted. */
  readonly error: TrustError | null;
  /** All reasons, most severe first. */
  readonly errors: readonly TrustError[];
  /** One finding for each reason, most severe first. */
  readonly findings: readonly Finding[];
}

/** Decides whether a server's certificate is trusted. Every tool that reports trust uses this function. */
export function decideTrust(facts: TrustFacts): Trust {
  const revoked = facts.revocation?.revoked === true;
  const errors = TRUST_ERRORS.filter(
    (error) => facts.verification.errors.includes(error) || (error === "revoked" && revoked),
  );
  const drafts = errors.map((error) => finding(error, null, TRUST_MESSAGES[error](facts)));
  return {
    trusted: errors.length === 0,
    error: errors[0] ?? null,
    errors,
    findings: adviseOn(TRUST_ADVICE, drafts, facts),
  };
}

const RFC = "https://www.rfc-editor.org/rfc";
const MAX_NAME = 200;
const REISSUE =
  "Request a new certificate from a public authority, and install it with the chain file from the authority.";

/** Severity and advice for each reason. */
const TRUST_ADVICE: AdviceTable<TrustError, TrustFacts> = {
  malformed: { severity: "critical", how: REISSUE, reference: `${RFC}/rfc5280#section-4` },
  expired: {
    severity: "critical",
    how: ({ leaf, now }) =>
      isExpired(leaf, now)
        ? "Renew the certificate and install it. Set up automatic renewal (for example with an ACME client)."
        : "Install the authority's current intermediate certificates.",
    reference: `${RFC}/rfc5280#section-4.1.2.5`,
  },
  not_yet_valid: {
    severity: "critical",
    how: "Install a certificate that is already valid. If the date is wrong, check the clock of the issuing system.",
    reference: `${RFC}/rfc5280#section-4.1.2.5`,
  },
  self_signed: {
    severity: "critical",
    how: "Install a certificate from a public authority, for example Let's Encrypt.",
    reference: "https://letsencrypt.org/getting-started/",
  },
  missing_intermediate: {
    severity: "critical",
    how: ({ leaf, now }) => {
      const [url] = describeCertificate(leaf, now).ca_issuers;
      const from = url === undefined ? "" : ` (the certificate names ${url})`;
      return `Add the issuer's certificate to the chain file that the server sends${from}.`;
    },
    reference: `${RFC}/rfc8446#section-4.4.2`,
  },
  untrusted_root: {
    severity: "critical",
    how: "Install a certificate from a public authority. If you use a private authority, install its root on the clients.",
    reference: `${RFC}/rfc5280#section-6.1`,
  },
  bad_signature: {
    severity: "critical",
    how: "Install the intermediate certificate that belongs to this certificate.",
    reference: `${RFC}/rfc5280#section-6.1.3`,
  },
  not_a_ca: { severity: "critical", how: REISSUE, reference: `${RFC}/rfc5280#section-4.2.1.9` },
  path_too_long: { severity: "critical", how: REISSUE, reference: `${RFC}/rfc5280#section-4.2.1.9` },
  name_constraints: {
    severity: "critical",
    how: "Request a certificate from an authority that is allowed to issue certificates for these names.",
    reference: `${RFC}/rfc5280#section-4.2.1.10`,
  },
  no_valid_policy: { severity: "critical", how: REISSUE, reference: `${RFC}/rfc5280#section-6.1.3` },
  wrong_usage: {
    severity: "critical",
    how: "Request a certificate for server authentication (extended key usage serverAuth).",
    reference: `${RFC}/rfc5280#section-4.2.1.12`,
  },
  unknown_critical_extension: { severity: "critical", how: REISSUE, reference: `${RFC}/rfc5280#section-4.2` },
  weak_signature: {
    severity: "critical",
    how: "Request a new certificate that is signed with SHA-256.",
    reference: `${RFC}/rfc9155`,
  },
  weak_key: {
    severity: "critical",
    how: "Request a new certificate with a P-256 or RSA 2048 key.",
    reference: `${RFC}/rfc9325#section-4.5`,
  },
  revoked: {
    severity: "critical",
    how: "Request a new certificate with a new key and install it.",
    reference: `${RFC}/rfc5280#section-5`,
  },
  hostname_mismatch: {
    severity: "critical",
    how: ({ host }) => `Request a certificate that has ${host} among its subject alternative names.`,
    reference: `${RFC}/rfc9525#section-6`,
  },
};

/** Describes each reason with the values seen. */
const TRUST_MESSAGES: Readonly<Record<TrustError, (facts: TrustFacts) => string>> = {
  malformed: () => "A certificate of the chain violates RFC 5280, and clients refuse it.",
  expired: expiredMessage,
  not_yet_valid: ({ leaf, verification, now }) => {
    const early = verification.path.find((certificate) => isNotYetValid(certificate, now)) ?? leaf;
    return `${subjectOf(early, leaf)} is not valid before ${day(early.notBefore)}.`;
  },
  self_signed: () => "The certificate is signed with its own key, so no browser trusts it.",
  missing_intermediate: ({ leaf, now, redact }) =>
    `The server sends its certificate without the certificate of its issuer, ${issuerWords(leaf, now, MAX_NAME, redact)}.`,
  untrusted_root: ({ leaf, verification, now, redact }) =>
    `The chain ends at ${issuerWords(verification.path.at(-1) ?? leaf, now, MAX_NAME, redact)}, which is not a trusted root.`,
  bad_signature: () => "A certificate in the chain is not signed with the key of the issuer that it names.",
  not_a_ca: () => "A certificate in the chain issued another certificate, but it is not a CA certificate.",
  path_too_long: () =>
    "The chain is longer than the path length that one of its authorities allows (pathLenConstraint).",
  name_constraints: () => "An authority in the chain is not allowed to issue certificates for these names.",
  no_valid_policy: () =>
    "An authority in the chain requires a certificate policy, but no policy is valid for the whole chain.",
  wrong_usage: () => "A certificate of the chain is not allowed for a TLS server (key usage).",
  unknown_critical_extension: () => "A certificate of the chain has a critical extension that clients do not support.",
  weak_signature: ({ leaf, verification }) => {
    const weak = verification.path.find(isWeakSignature) ?? leaf;
    return `${subjectOf(weak, leaf)} is signed with ${signatureName(weak)}, which browsers refuse.`;
  },
  weak_key: ({ leaf, verification }) => {
    const weak = verification.path.find((certificate) => !isStrongKey(certificate)) ?? leaf;
    const { type, bits } = keyFacts(weak);
    return `${subjectOf(weak, leaf)} has a key that browsers refuse: ${type}${bits === null ? "" : ` ${bits} bits`}.`;
  },
  revoked: ({ revocation, redact }) =>
    revocation === null ? "The certificate was revoked." : `The ${describeRevocation(revocation.revocation, redact)}.`,
  hostname_mismatch: ({ leaf, host, now, redact }) =>
    `The certificate is for ${nameWords(leaf, now, MAX_NAME, redact)}, not for ${host}.`,
};

function expiredMessage({ leaf, verification, now }: TrustFacts): string {
  const ended = [leaf, ...verification.path].find((certificate) => isExpired(certificate, now)) ?? leaf;
  const days = -describeChainCertificate(ended, now).days_left;
  const ago = days <= 1 ? "less than a day ago" : `${days - 1} ${days === 2 ? "day" : "days"} ago`;
  return `${subjectOf(ended, leaf)} expired on ${day(ended.notAfter)}, ${ago}.`;
}

function subjectOf(certificate: Certificate, leaf: Certificate): string {
  return isSame(certificate, leaf) ? "The certificate" : "A certificate above the server's";
}

/** Renders the date in UTC without the time. */
function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
