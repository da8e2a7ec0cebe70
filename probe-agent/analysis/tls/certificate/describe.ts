import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { isSameOctets } from "#shared/same-octets.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  accessLocations,
  crlUrls,
  extendedKeyUsages,
  keyUsages,
  mustStaple,
  policyOids,
  subjectAltNames,
  type GeneralName,
} from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { isSignedBy, keyFacts, signatureName } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { ATTRIBUTE, attributeOf, nameText, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isExpired } from "#probe-agent/analysis/tls/certificate/validity.ts";

/** The certificate as the ssl tool shows it, but for the timestamps, which come from elsewhere too. */
export type CertificateDescription = Omit<ResultOf<typeof ssl>["certificate"], "scts">;
/** The fields the tool shows of every certificate of a chain. */
type ChainDescription = Omit<ResultOf<typeof ssl>["chain"][number], "position" | "role" | "sent">;

const DAY_MS = 86_400_000;
/** Characters shown of one text and of all alternative names: hostile certificates do not swell an answer. */
const MAX_TEXT = 1024;
const MAX_SAN_TEXT = 32_768;
const MAX_ENTRIES = 32;

/** Policy OIDs of the CA/Browser Forum (its "Object Registry"). */
const VALIDATION: Readonly<Record<string, "dv" | "ov" | "ev">> = {
  "2.23.140.1.1": "ev",
  "2.23.140.1.2.1": "dv",
  "2.23.140.1.2.2": "ov",
};

/** Extended key usages by OID (RFC 5280 section 4.2.1.12). */
const PURPOSES: Readonly<Record<string, string>> = {
  "2.5.29.37.0": "anyExtendedKeyUsage",
  "1.3.6.1.5.5.7.3.1": "serverAuth",
  "1.3.6.1.5.5.7.3.2": "clientAuth",
  "1.3.6.1.5.5.7.3.3": "codeSigning",
  "1.3.6.1.5.5.7.3.4": "emailProtection",
  "1.3.6.1.5.5.7.3.8": "timeStamping",
  "1.3.6.1.5.5.7.3.9": "OCSPSigning",
};

/** What is shown of any certificate of a chain. Parts that cannot be read are empty. */
export function describeChainCertificate(certificate: Certificate, now: Date): ChainDescription {
  const { notBefore, notAfter } = certificate;
  const subject = nameOf(certificate.subject);
  return {
    subject: cut(nameText(subject)),
    issuer: describeName(certificate.issuer),
    common_name: attribute(subject, ATTRIBUTE.commonName),
    serial: cut(certificate.serial),
    fingerprint_sha256: digest("sha256", certificate.der),
    key: keyFacts(certificate),
    signature_algorithm: signatureName(certificate),
    not_before: notBefore.toISOString(),
    not_after: notAfter.toISOString(),
    days_left: daysLeft(certificate, now),
    self_signed: isSelfSigned(certificate),
  };
}

/** Everything shown of the server's own certificate. */
export function describeCertificate(certificate: Certificate, now: Date): CertificateDescription {
  const subject = nameOf(certificate.subject);
  const issuer = nameOf(certificate.issuer);
  const names = readable(() => subjectAltNames(certificate), null) ?? [];
  const policies = readable(() => policyOids(certificate), null) ?? [];
  const urls = (read: () => string[]): string[] => readable(read, []).slice(0, MAX_ENTRIES).map(cut);
  const purposes = readable(() => extendedKeyUsages(certificate), null);
  return {
    ...describeChainCertificate(certificate, now),
    organization: attribute(subject, ATTRIBUTE.organization),
    issuer_common_name: attribute(issuer, ATTRIBUTE.commonName),
    issuer_organization: attribute(issuer, ATTRIBUTE.organization),
    san: shownNames(names),
    san_total: names.length,
    wildcard: names.some(({ kind, contents }) => kind === "dns" && contents[0] === 0x2a),
    fingerprint_sha1: digest("sha1", certificate.der),
    spki_sha256: digest("sha256", certificate.spki),
    lifetime_days: Math.round(lifetimeMs(certificate) / DAY_MS),
    must_staple: readable(() => mustStaple(certificate), false),
    key_usage: readable(() => keyUsages(certificate), null),
    ext_key_usage: purposes?.slice(0, MAX_ENTRIES).map((oid) => PURPOSES[oid] ?? oid) ?? null,
    policies: policies.map((oid) => VALIDATION[oid]).find((word) => word !== undefined) ?? null,
    policy_oids: policies.slice(0, MAX_ENTRIES),
    ocsp_urls: urls(() => accessLocations(certificate, "1.3.6.1.5.5.7.48.1")),
    crl_urls: urls(() => crlUrls(certificate)),
    ca_issuers: urls(() => accessLocations(certificate, "1.3.6.1.5.5.7.48.2")),
  };
}

/** RFC 4514 text of a DER Name, cut where very long; empty where it cannot be read. */
export function describeName(der: Uint8Array): string {
  return cut(nameText(nameOf(der)));
}

/** Whole days of validity left, rounded down; 0 in notAfter's own second, negative when expired. */
export function daysLeft(certificate: Certificate, now: Date): number {
  const days = Math.floor((certificate.notAfter.getTime() - now.getTime()) / DAY_MS);
  return isExpired(certificate, now) ? days : Math.max(days, 0);
}

/** From notBefore to notAfter, milliseconds. */
export function lifetimeMs({ notBefore, notAfter }: Certificate): number {
  return notAfter.getTime() - notBefore.getTime();
}

/** Whether the certificate's own key made its signature. */
export function isSelfSigned(certificate: Certificate): boolean {
  return isSameOctets(certificate.subject, certificate.issuer) && isSignedBy(certificate, certificate);
}

function shownNames(names: readonly GeneralName[]): string[] {
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    const text = cut(generalNameText(name));
    length += text.length;
    if (length > MAX_SAN_TEXT) break;
    shown.push(text);
  }
  return shown;
}

function generalNameText({ kind, contents }: GeneralName): string {
  const text = Buffer.from(contents.subarray(0, MAX_TEXT)).toString("latin1");
  if (kind === "dns") return text;
  if (kind === "ip" && (contents.length === 4 || contents.length === 16)) return addressText(contents);
  if (kind === "email" || kind === "uri") return `${kind}:${text}`;
  if (kind === "directory") return `directory:${nameText(nameOf(contents))}`;
  return `${kind}:${Buffer.from(contents.subarray(0, 64)).toString("hex")}`;
}

function addressText(octets: Uint8Array): string {
  const address = ipaddr.fromByteArray([...octets]);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

function nameOf(der: Uint8Array): ReturnType<typeof readName> {
  return readable(() => readName(der), []);
}

function attribute(name: ReturnType<typeof readName>, oid: string): string | null {
  const value = attributeOf(name, oid);
  return value === null ? null : cut(value);
}

function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedDer) return otherwise;
    throw error;
  }
}

function digest(hash: "sha1" | "sha256", octets: Uint8Array): string {
  return createHash(hash).update(octets).digest("hex");
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
