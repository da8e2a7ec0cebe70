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
import { ATTRIBUTE, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isValidName } from "#probe-agent/analysis/tls/certificate/structure.ts";
import { isWithin } from "#probe-agent/analysis/tls/certificate/subtrees.ts";

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
  const text = Buffer.from(contents).toString("latin1");
  return isAscii(contents) && (text.includes("@") || isDomain(text));
}

/**
 * Reports whether a text is a domain by Go's rule (domainNameValid): empty, or labels of visible characters with an
 * optional leading dot and without a final dot.
 */
function isDomain(text: string): boolean {
  if (text === "") return true;
  const labels = (text.startsWith(".") ? text.slice(1) : text).split(".");
  return labels.every((label) => label !== "") && Buffer.from(text).every((octet) => octet > 0x20 && octet < 0x7f);
}

/** Reports whether octets are an address and a CIDR mask of one family: all ones before all zeros (RFC 4632). */
function isRange(contents: Uint8Array): boolean {
  if (contents.length !== 8 && contents.length !== 32) return false;
  const bits = [...contents.subarray(contents.length / 2)].map((octet) => octet.toString(2).padStart(8, "0")).join("");
  return !bits.includes("01");
}
