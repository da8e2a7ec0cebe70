import { isAscii } from "node:buffer";
import { isSameOctets } from "#shared/same-octets.ts";
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

/** Comparisons one verification may cost (Go's crypto/x509 stops at the same figure). */
const MAX_COMPARISONS = 250_000;
/** A directory name is parsed for each comparison: it counts for that many. */
const DIRECTORY_COST = 50;

/** Counts down over one verification. */
export interface Budget {
  left: number;
}

/** A fresh budget of comparisons. */
export function comparisonBudget(): Budget {
  return { left: MAX_COMPARISONS };
}

/** Bases of the permitted and the excluded names. */
interface Constraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

/**
 * Whether the names of every certificate in `below` (leaf first) stay inside the name constraints of `authority`
 * (RFC 5280 sections 4.2.1.10 and 6.1.4 g). Self-issued intermediates are exempt; the leaf never is. A name of a kind
 * that is constrained but cannot be compared here is outside. Throws MalformedDer.
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

/** Everything a certificate claims to be: its alternative names, and its subject as a directory name. */
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
 * The name constraints of an authority; null where it has none. Throws MalformedDer for what Chrome and Go refuse to read:
 * neither list or an empty one (GeneralSubtrees is SIZE (1..MAX)), addresses without a mask as in CIDR, names that are not
 * ASCII or no names of hosts.
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
    // Section 4.2.1.10: minimum is zero (then left out in DER) and maximum absent.
    if (limits.length > 0) throw new MalformedDer("subtree limits");
    const name = generalName(expectTag(base));
    if (!isSoundBase(name)) throw new MalformedDer("base of name constraints");
    return name;
  });
}

function isSoundBase({ kind, contents }: GeneralName): boolean {
  if (kind === "directory") return isValidName(contents);
  if (kind === "ip") return isRange(contents);
  if (kind !== "dns" && kind !== "email" && kind !== "uri") return true;
  const text = Buffer.from(contents).toString("latin1");
  return isAscii(contents) && (text.includes("@") || isDomain(text));
}

/** As Go has it (domainNameValid): empty, or labels of visible characters, perhaps after a dot; no final dot. */
function isDomain(text: string): boolean {
  if (text === "") return true;
  const labels = (text.startsWith(".") ? text.slice(1) : text).split(".");
  return labels.every((label) => label !== "") && Buffer.from(text).every((octet) => octet > 0x20 && octet < 0x7f);
}

/** Address and mask of one family, the mask of ones before zeros (RFC 4632). */
function isRange(contents: Uint8Array): boolean {
  if (contents.length !== 8 && contents.length !== 32) return false;
  const bits = [...contents.subarray(contents.length / 2)].map((octet) => octet.toString(2).padStart(8, "0")).join("");
  return !bits.includes("01");
}
