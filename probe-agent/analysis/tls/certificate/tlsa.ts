import { createHash } from "node:crypto";
import type { ChainVerification } from "#probe-agent/analysis/tls/certificate.ts";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** A TLSA record (RFC 6698 section 2.1). A field that cannot be read is -1. */
export interface Tlsa {
  /** 0 PKIX-TA, 1 PKIX-EE, 2 DANE-TA, 3 DANE-EE. */
  readonly usage: number;
  /** 0: the certificate, 1: its public key. */
  readonly selector: number;
  /** 0 exact, 1 SHA-256, 2 SHA-512. */
  readonly matchingType: number;
  /** Hexadecimal, lower case. */
  readonly data: string;
}

/** The server's chain that a record is compared with. */
interface TlsaTerms {
  readonly leaf: Certificate;
  /** Certificates sent after the leaf. */
  readonly others: readonly Certificate[];
  readonly host: string;
  readonly now: Date;
  /** Result of verifying the chain with the probe's own roots. */
  readonly verification: ChainVerification;
}

const PKIX_TA = 0;
const PKIX_EE = 1;
const DANE_TA = 2;
const DANE_EE = 3;
const HASHES: readonly (string | null)[] = [null, "sha256", "sha512"];

/** Reports whether a client can use the record: all fields have values of RFC 6698, and a hash has the right length. */
export function isUsableTlsa({ usage, selector, matchingType, data }: Tlsa): boolean {
  const lengths: readonly (number | null)[] = [null, 64, 128];
  const length = lengths[matchingType];
  return (
    [PKIX_TA, PKIX_EE, DANE_TA, DANE_EE].includes(usage) &&
    (selector === 0 || selector === 1) &&
    length !== undefined &&
    (length === null ? data.length > 0 : data.length === length)
  );
}

/** Reports whether the server's chain satisfies a record (RFC 6698 section 2.1.1, RFC 7671 sections 5.1 to 5.4). */
export function satisfiesTlsa(record: Tlsa, terms: TlsaTerms): boolean {
  const { leaf, others, verification } = terms;
  if (!isUsableTlsa(record)) return false;
  const isMatch = (certificate: Certificate): boolean => matchesData(record, certificate);
  const isTrusted = verification.trusted && verification.hostname_match;
  switch (record.usage) {
    case PKIX_TA:
      return isTrusted && verification.path.slice(1).some(isMatch);
    case PKIX_EE:
      return isTrusted && isMatch(leaf);
    case DANE_TA:
      return distinct(others.filter(isMatch)).some((anchor) => leadsTo(anchor, terms));
    default:
      // Names and dates are ignored (RFC 7671 section 5.1).
      return isMatch(leaf);
  }
}

/**
 * Maximum number of matching certificates that are tried as anchors. Cross-signed certificates share a key, so several
 * can match. The limit stops a server that sends many of them to make verification expensive.
 */
const MAX_ANCHORS = 4;

function distinct(certificates: readonly Certificate[]): readonly Certificate[] {
  const once = new Map(certificates.map((one) => [Buffer.from(one.der).toString("base64"), one]));
  return [...once.values()].slice(0, MAX_ANCHORS);
}

/** Verifies the chain with the certificate as its only anchor. Names and dates are checked (RFC 7671 section 5.2). */
function leadsTo(anchor: Certificate, { leaf, others, host, now }: TlsaTerms): boolean {
  const intermediates = others.map(({ der }) => der);
  const { trusted, hostname_match } = verifyChain({ leaf: leaf.der, intermediates, roots: [anchor.der], host, now });
  return trusted && hostname_match;
}

/** Reports whether a record's data is that of the certificate. */
function matchesData({ selector, matchingType, data }: Tlsa, { der, spki }: Certificate): boolean {
  const octets = selector === 0 ? der : spki;
  const hash = HASHES[matchingType] ?? null;
  const found = hash === null ? Buffer.from(octets) : createHash(hash).update(octets).digest();
  return found.toString("hex") === data;
}
