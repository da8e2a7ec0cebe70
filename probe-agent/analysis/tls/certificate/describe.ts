import type { Redact } from "#shared/text/redact.ts";
import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { listFirst } from "#shared/text/list.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { isSameOctets } from "#shared/text/same-octets.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
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

/** The certificate in the ssl tool's result, without the timestamps, which have other sources too. */
export type CertificateDescription = Omit<ResultOf<typeof ssl>["certificate"], "scts">;
/** The fields in the ssl tool's result for every certificate of a chain. */
type ChainDescription = Omit<ResultOf<typeof ssl>["chain"][number], "position" | "role" | "sent">;

const DAY_MS = 86_400_000;
// Limits keep the result small if a certificate is hostile.

/** Maximum number of characters of one text. */
const MAX_TEXT = 1024;
/** Maximum number of characters of all alternative names together. */
const MAX_SAN_TEXT = 32_768;
/** Maximum number of entries of other lists. */
const MAX_ENTRIES = 32;
/** Maximum number of names in a message. */
const NAMES_SHOWN = 3;

/** Validation level by policy OID (CA/Browser Forum, "Object Registry"). */
const VALIDATION: Readonly<Record<string, "dv" | "ov" | "ev">> = {
  "2.23.140.1.1": "ev",
  "2.23.140.1.2.1": "dv",
  "2.23.140.1.2.2": "ov",
};

/** Names of extended key usages by OID (RFC 5280 section 4.2.1.12). */
const PURPOSES: Readonly<Record<string, string>> = {
  "2.5.29.37.0": "anyExtendedKeyUsage",
  "1.3.6.1.5.5.7.3.1": "serverAuth",
  "1.3.6.1.5.5.7.3.2": "clientAuth",
  "1.3.6.1.5.5.7.3.3": "codeSigning",
  "1.3.6.1.5.5.7.3.4": "emailProtection",
  "1.3.6.1.5.5.7.3.8": "timeStamping",
  "1.3.6.1.5.5.7.3.9": "OCSPSigning",
};

/** Describes a certificate of a chain. Parts that cannot be read are empty. */
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

/** Describes the server's own certificate with all fields. Parts that cannot be read are empty. */
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

/** Renders a DER Name as RFC 4514 text, truncated if very long; empty if it cannot be read. */
export function describeName(der: Uint8Array): string {
  return cut(nameText(nameOf(der)));
}

/** Returns the whole days of validity left, rounded down; 0 during the second of notAfter, negative if expired. */
export function daysLeft(certificate: Certificate, now: Date): number {
  const days = Math.floor((certificate.notAfter.getTime() - now.getTime()) / DAY_MS);
  return isExpired(certificate, now) ? days : Math.max(days, 0);
}

/** Returns the time from notBefore to notAfter in milliseconds. */
export function lifetimeMs({ notBefore, notAfter }: Certificate): number {
  return notAfter.getTime() - notBefore.getTime();
}

/** Reports whether the certificate names itself as issuer and is signed with its own key. */
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

/** Names the issuer of a certificate in a message, with up to `maxChars` characters. */
export function issuerWords(certificate: Certificate, now: Date, maxChars: number, redact: Redact): string {
  const { issuer } = describeChainCertificate(certificate, now);
  return issuer === "" ? "an issuer without a name" : printable(redact(issuer), maxChars);
}

/** Lists the first names of a certificate in a message, each with up to `maxChars` characters. */
export function nameWords(leaf: Certificate, now: Date, maxChars: number, redact: Redact): string {
  const { san, san_total: total } = describeCertificate(leaf, now);
  const shown = san.slice(0, NAMES_SHOWN).map((name) => printable(redact(name), maxChars));
  return shown.length === 0 ? "no name" : listFirst(shown, NAMES_SHOWN, total);
}

function nameOf(der: Uint8Array): ReturnType<typeof readName> {
  return readable(() => readName(der), []);
}

function attribute(name: ReturnType<typeof readName>, oid: string): string | null {
  const value = attributeOf(name, oid);
  return value === null ? null : cut(value);
}

function digest(hash: "sha1" | "sha256", octets: Uint8Array): string {
  return createHash(hash).update(octets).digest("hex");
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
