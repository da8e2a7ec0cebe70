import { isSameOctets } from "#shared/text/same-octets.ts";
import {
  childrenOf,
  expectTag,
  MalformedDer,
  sequenceOf,
  TAG,
  timeOf,
  wholeOctets,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { readExtensions, type ExtensionValue } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { Signed } from "#probe-agent/analysis/tls/certificate/signature.ts";

/** A certificate revocation list (RFC 5280 section 5.1). Octet fields are views; the entries are not parsed. */
export interface Crl extends Signed {
  /** DER Name. */
  readonly issuer: Uint8Array;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  /** Concatenated DER of the entries; empty if no certificate is revoked. */
  readonly entries: Uint8Array;
  /** Extensions by dotted OID. */
  readonly extensions: ReadonlyMap<string, ExtensionValue>;
  /** Size of the whole list in octets. */
  readonly size: number;
}

const PEM_START = "-----BEGIN X509 CRL-----";
const PEM_END = "-----END X509 CRL-----";

/** Parses a list in DER or PEM. Returns null if it is neither. */
export function readCrl(octets: Uint8Array): Crl | null {
  try {
    return read(fromPem(octets));
  } catch (error) {
    if (error instanceof MalformedDer) return null;
    throw error;
  }
}

function fromPem(octets: Uint8Array): Uint8Array {
  if (octets[0] === TAG.sequence) return octets;
  const text = Buffer.from(octets.buffer, octets.byteOffset, octets.length);
  const start = text.indexOf(PEM_START);
  const end = text.indexOf(PEM_END, start);
  if (start === -1 || end === -1) return octets;
  return Buffer.from(text.toString("latin1", start + PEM_START.length, end), "base64");
}

function read(octets: Uint8Array): Crl {
  const [tbs, algorithm, signature, ...more] = sequenceOf(octets);
  if (more.length > 0) throw new MalformedDer("certificate list");
  const signed = expectTag(tbs, TAG.sequence);
  const fields = childrenOf(signed.contents);
  // The version is absent in lists of version 1.
  if (fields[0]?.tag === TAG.integer) fields.shift();
  const [innerAlgorithm, issuer, thisUpdate, ...optional] = fields;
  const outer = expectTag(algorithm, TAG.sequence).whole;
  if (!isSameOctets(expectTag(innerAlgorithm).whole, outer)) {
    throw new MalformedDer("the two signature algorithms differ");
  }
  const next = isTime(optional[0]) ? timeOf(optional.shift()) : null;
  return {
    algorithm: outer,
    signed: signed.whole,
    signature: wholeOctets(signature),
    issuer: expectTag(issuer, TAG.sequence).whole,
    thisUpdate: timeOf(thisUpdate),
    nextUpdate: next,
    entries: optional[0]?.tag === TAG.sequence ? optional[0].contents : new Uint8Array(),
    extensions: readExtensions(optional.find(({ tag }) => tag === 0xa0)),
    size: octets.length,
  };
}

function isTime(value: Der | undefined): boolean {
  return value?.tag === TAG.utcTime || value?.tag === TAG.generalizedTime;
}
