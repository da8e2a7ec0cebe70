import { isAscii } from "node:buffer";
import { isSameOctets } from "#shared/text/same-octets.ts";
import {
  childrenOf,
  expectTag,
  MalformedDer,
  sequenceOf,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  EXTENSION,
  generalName,
  subjectAltNames,
  type GeneralName,
} from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { ATTRIBUTE, readName, canonicalName } from "#probe-agent/analysis/tls/certificate/names.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isValidName } from "#probe-agent/analysis/tls/certificate/structure.ts";

/** Maximum number of comparisons in one verification; Go's crypto/x509 has the same limit. */
const MAX_COMPARISONS = 250_000;
/** Cost of comparing a directory name, in comparisons: the name is parsed each time. */
const DIRECTORY_COST = 50;

/** Comparisons left in one verification. */
export interface Budget {
  left: number;
}

/** Creates the budget of one verification. */
export function comparisonBudget(): Budget {
  return { left: MAX_COMPARISONS };
}

/** Bases of permitted and excluded subtrees. */
interface Constraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

/**
 * Reports whether all names of the certificates in `below` (leaf first) satisfy the name constraints of `authority`
 * (RFC 5280 sections 4.2.1.10 and 6.1.4 g). Self-issued intermediates are exempt; the leaf never is. A name of a
 * constrained type that cannot be compared does not satisfy them. False if the budget is exhausted. Throws
 * MalformedDer.
 */
export function isWithinConstraints(authority: Certificate, below: readonly Certificate[], budget: Budget): boolean {
  const constraints = nameConstraints(authority);
  if (!constraints) return true;
  return below.every((certificate, index) => {
    const selfIssued = isSameOctets(certificate.subject, certificate.issuer);
    return (index > 0 && selfIssued) || namesOf(certificate).every((name) => isAllowed(name, constraints, budget));
  });
}

function isAllowed(name: GeneralName, { permitted, excluded }: Constraints, budget: Budget): boolean {
  const matches = (base: GeneralName, wide: boolean): boolean => {
    budget.left -= base.kind === "directory" ? DIRECTORY_COST : 1;
    return budget.left >= 0 && isWithin(name, base, wide);
  };
  const sameKind = (base: GeneralName): boolean => base.kind === name.kind;
  const allowing = permitted.filter(sameKind);
  budget.left -= permitted.length + excluded.length;
  if (budget.left < 0) return false;
  const inside = allowing.length === 0 || allowing.some((base) => matches(base, false));
  return inside && !excluded.filter(sameKind).some((base) => matches(base, true)) && budget.left >= 0;
}

const namesKnown = new WeakMap<Certificate, readonly GeneralName[]>();

/** Returns all names of a certificate: its alternative names, its subject, and email addresses in the subject. */
function namesOf(certificate: Certificate): readonly GeneralName[] {
  const names = namesKnown.get(certificate) ?? readNames(certificate);
  namesKnown.set(certificate, names);
  return names;
}

function readNames(certificate: Certificate): readonly GeneralName[] {
  const names = subjectAltNames(certificate) ?? [];
  const subject = readName(certificate.subject);
  if (subject.length > 0) names.push({ kind: "directory", contents: certificate.subject });
  if (!names.some(({ kind }) => kind === "email")) {
    const addresses = subject.flat().filter(({ oid }) => oid === ATTRIBUTE.emailAddress);
    names.push(...addresses.map(({ value }) => ({ kind: "email" as const, contents: Buffer.from(value, "latin1") })));
  }
  return names;
}

const constraintsKnown = new WeakMap<Certificate, Constraints>();

/**
 * Parses the name constraints of an authority. Returns null if it has none. Throws MalformedDer for constraints that
 * Chrome and Go refuse: no list or an empty list (GeneralSubtrees is SIZE (1..MAX)), addresses without a CIDR mask,
 * names that are not ASCII or not host names.
 */
export function nameConstraints(authority: Certificate): Constraints | null {
  const value = authority.extensions.get(EXTENSION.nameConstraints)?.value;
  if (!value) return null;
  const known = constraintsKnown.get(authority);
  if (known) return known;
  const parts = sequenceOf(value);
  if (parts.length === 0) throw new MalformedDer("empty name constraints");
  const constraints = { permitted: subtrees(parts, 0xa0), excluded: subtrees(parts, 0xa1) };
  constraintsKnown.set(authority, constraints);
  return constraints;
}

function subtrees(parts: readonly Der[], tag: number): GeneralName[] {
  const list = parts.find((part) => part.tag === tag);
  if (!list) return [];
  const entries = childrenOf(list.contents);
  if (entries.length === 0) throw new MalformedDer("empty list of name constraints");
  return entries.map((subtree) => {
    const [base, ...limits] = childrenOf(expectTag(subtree, TAG.sequence).contents);
    // The minimum is zero, which DER omits, and the maximum is absent (RFC 5280 section 4.2.1.10).
    if (limits.length > 0) throw new MalformedDer("subtree limits");
    const name = generalName(expectTag(base));
    if (!isValidBase(name)) throw new MalformedDer("base of name constraints");
    return name;
  });
}

function isValidBase({ kind, contents }: GeneralName): boolean {
  if (kind === "directory") return isValidName(contents);
  if (kind === "ip") return isRange(contents);
  if (kind !== "dns" && kind !== "email" && kind !== "uri") return true;
  const base = Buffer.from(contents).toString("latin1");
  return isAscii(contents) && (base.includes("@") || isDomain(base));
}

/**
 * Reports whether a name is a domain by Go's rule (domainNameValid): empty, or labels of visible characters with an
 * optional leading dot and without a final dot.
 */
function isDomain(name: string): boolean {
  if (name === "") return true;
  const labels = (name.startsWith(".") ? name.slice(1) : name).split(".");
  return labels.every((label) => label !== "") && Buffer.from(name).every((octet) => octet > 0x20 && octet < 0x7f);
}

/** Reports whether octets are an address and a CIDR mask of one family: all ones before all zeros (RFC 4632). */
function isRange(contents: Uint8Array): boolean {
  if (contents.length !== 8 && contents.length !== 32) return false;
  const bits = [...contents.subarray(contents.length / 2)].map((octet) => octet.toString(2).padStart(8, "0")).join("");
  return !bits.includes("01");
}

/**
 * Reports whether a name is within the subtree of a base of the same type (RFC 5280 section 4.2.1.10). `wide` is true
 * for an excluded subtree: then a wildcard is within it if any name that it matches is. A name that cannot be compared
 * is never within a permitted subtree and always within an excluded one.
 */
function isWithin(name: GeneralName, base: GeneralName, wide: boolean): boolean {
  switch (base.kind) {
    case "dns":
      return isDnsWithin(text(name), text(base), wide);
    case "ip":
      return isAddressWithin(name.contents, base.contents, wide);
    case "email":
      return isMailboxWithin(text(name), text(base), wide);
    case "uri":
      return isUriWithin(text(name), text(base), wide);
    case "directory":
      return isDirectoryWithin(name.contents, base.contents);
    default:
      return wide;
  }
}

function isDnsWithin(name: string, base: string, wide: boolean): boolean {
  // A name with an empty label is not a host name, so it cannot be compared.
  if (name.split(".").includes("")) return wide;
  if (isDomainWithin(name, base)) return true;
  // *.example.com matches foo.example.com, so an exclusion of foo.example.com applies to it.
  if (!wide || !name.startsWith("*.")) return false;
  const parent = name.slice(1);
  const label = base.slice(0, -parent.length);
  return base.endsWith(parent) && label.length > 0 && !label.includes(".");
}

/**
 * Reports whether a name is the base or below it. With a leading dot, the base itself is not included. An empty base
 * includes every name.
 */
function isDomainWithin(name: string, base: string): boolean {
  if (base === "") return true;
  if (base.startsWith(".")) return name.endsWith(base) && name.length > base.length;
  return name === base || name.endsWith(`.${base}`);
}

/** Reports whether an address is in a range. `base` is an address followed by a mask of the same family. */
function isAddressWithin(address: Uint8Array, base: Uint8Array, wide: boolean): boolean {
  const size = base.length / 2;
  if (size !== 4 && size !== 16) return wide;
  if (address.length !== size) return false;
  return address.every((octet, index) => {
    const mask = base[size + index] ?? 0;
    return (octet & mask) === ((base[index] ?? 0) & mask);
  });
}

/** Reports whether a mailbox is within a base: a mailbox, a host, or with a leading dot all hosts of a domain. */
function isMailboxWithin(mailbox: string, base: string, wide: boolean): boolean {
  const at = mailbox.indexOf("@");
  if (at < 0 || mailbox.includes("@", at + 1)) return wide;
  if (base.includes("@")) return mailbox === base;
  const host = mailbox.slice(at + 1);
  return base.startsWith(".") ? isDomainWithin(host, base) : host === base;
}

/** Reports whether the host of a URI is within a base: a host, or with a leading dot all hosts of a domain. */
function isUriWithin(uri: string, base: string, wide: boolean): boolean {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/?#]*@)?([^:/?#[\]]+)/.exec(uri)?.[1];
  if (host === undefined || /^[0-9.]+$/.test(host)) return wide;
  return base.startsWith(".") ? isDomainWithin(host, base) : host === base;
}

/** Reports whether a name begins with all relative distinguished names of the base. */
function isDirectoryWithin(name: Uint8Array, base: Uint8Array): boolean {
  const names = canonicalName(readName(name));
  return canonicalName(readName(base)).every((relative, index) => names[index] === relative);
}

/**
 * Returns a name's text in lower case. Domains are case-insensitive. Local parts of mailboxes are compared without case
 * too, which is stricter.
 */
function text({ contents }: GeneralName): string {
  return Buffer.from(contents).toString("latin1").toLowerCase();
}
