import { createHash } from "node:crypto";
import type { ChainVerification } from "#probe-agent/analysis/certificate.ts";
import { verifyChain } from "#probe-agent/analysis/certificate.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** A TLSA record (RFC 6698 section 2.1); -1 stands for a field that cannot be read. */
export interface Tlsa {
  /** 0 PKIX-TA, 1 PKIX-EE, 2 DANE-TA, 3 DANE-EE. */
  readonly usage: number;
  /** 0 the certificate, 1 its public key. */
  readonly selector: number;
  /** 0 exact, 1 SHA-256, 2 SHA-512. */
  readonly matchingType: number;
  /** Hexadecimal, lower case. */
  readonly data: string;
}

/** What a record is held against. */
interface TlsaTerms {
  readonly leaf: Certificate;
  /** As sent behind the leaf. */
  readonly others: readonly Certificate[];
  readonly host: string;
  readonly now: Date;
  /** By the roots we trust ourselves. */
  readonly verification: ChainVerification;
}

const PKIX_TA = 0;
const PKIX_EE = 1;
const DANE_TA = 2;
const DANE_EE = 3;
const HASHES: readonly (string | null)[] = [null, "sha256", "sha512"];

/** Whether a client of the web can act by the record: all fields have a value that RFC 6698 knows, a hash its length. */
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

/** Whether the server's chain is what the record asks for (RFC 6698 section 2.1.1, RFC 7671 sections 5.1 to 5.4). */
export function satisfiesTlsa(record: Tlsa, terms: TlsaTerms): boolean {
  const { leaf, others, verification } = terms;
  if (!isUsableTlsa(record)) return false;
  const isMeant = (certificate: Certificate): boolean => associated(record, certificate);
  const isTrusted = verification.trusted && verification.hostname_match;
  switch (record.usage) {
    case PKIX_TA:
      return isTrusted && verification.path.slice(1).some(isMeant);
    case PKIX_EE:
      return isTrusted && isMeant(leaf);
    case DANE_TA:
      return distinct(others.filter(isMeant)).some((anchor) => leadsTo(anchor, terms));
    default:
      // RFC 7671 section 5.1: neither names nor dates count.
      return isMeant(leaf);
  }
}

/** Cross-signed certificates share a key; a server that repeats one to be verified over and over does not get its way. */
const MAX_ANCHORS = 4;

function distinct(certificates: readonly Certificate[]): readonly Certificate[] {
  const once = new Map(certificates.map((one) => [Buffer.from(one.der).toString("base64"), one]));
  return [...once.values()].slice(0, MAX_ANCHORS);
}

/** The authority named is an anchor as good as a root of ours; names and dates count (RFC 7671 section 5.2). */
function leadsTo(anchor: Certificate, { leaf, others, host, now }: TlsaTerms): boolean {
  const intermediates = others.map(({ der }) => der);
  const { trusted, hostname_match } = verifyChain({ leaf: leaf.der, intermediates, roots: [anchor.der], host, now });
  return trusted && hostname_match;
}

function associated({ selector, matchingType, data }: Tlsa, { der, spki }: Certificate): boolean {
  const octets = selector === 0 ? der : spki;
  const hash = HASHES[matchingType] ?? null;
  const found = hash === null ? Buffer.from(octets) : createHash(hash).update(octets).digest();
  return found.toString("hex") === data;
}
