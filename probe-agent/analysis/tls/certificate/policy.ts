import { isSameOctets } from "#shared/text/same-octets.ts";
import { isWithinConstraints, type Budget } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import {
  MalformedDer,
  childrenOf,
  expectTag,
  oidText,
  readDer,
  sequenceOf,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  basicConstraints,
  EXTENSION,
  keyUsages,
  policyOids,
} from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { formFaults } from "#probe-agent/analysis/tls/certificate/form.ts";
import { isStrongKey, isWeakSignature } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isExpired, isNotYetValid } from "#probe-agent/analysis/tls/certificate/validity.ts";
import { isSelfIssued } from "#probe-agent/analysis/tls/certificate/self-issued.ts";

/**
 * Codes of faults that make a chain untrusted, most severe first. The less common codes mean: `malformed` a certificate
 * is not DER or breaks a form rule; `bad_signature` a signature does not verify; `not_a_ca` an issuer is not allowed to
 * issue; `path_too_long` and `name_constraints` an authority's limits are exceeded; `no_valid_policy` a required
 * certificate policy is missing; `wrong_usage` a certificate is not allowed for a server; `unknown_critical_extension`
 * clients do not understand a critical extension.
 */
export const TRUST_ERRORS = [
  "malformed",
  "expired",
  "not_yet_valid",
  "self_signed",
  "missing_intermediate",
  "untrusted_root",
  "bad_signature",
  "not_a_ca",
  "path_too_long",
  "name_constraints",
  "no_valid_policy",
  "wrong_usage",
  "unknown_critical_extension",
  "weak_signature",
  "weak_key",
  "revoked",
  "hostname_mismatch",
] as const;

/** Code of a fault that makes a chain untrusted. */
export type TrustError = (typeof TRUST_ERRORS)[number];

/** Finds the faults of the server's own certificate. A weak signature is no fault if the certificate is an anchor. */
export function leafFaults(leaf: Certificate, now: Date, isAnchor: boolean): TrustError[] {
  return orMalformed(() => {
    const faults = commonFaults(leaf, { now, isLeaf: true, isAnchor });
    const serves = keyUsages(leaf)?.some((usage) => SERVER_USAGES.has(usage)) ?? true;
    if (!serves) faults.push("wrong_usage");
    // Only authorities are allowed to have name constraints (RFC 5280 section 4.2.1.10).
    const isAuthority = basicConstraints(leaf)?.ca ?? false;
    if (leaf.extensions.has(EXTENSION.nameConstraints) && !isAuthority) faults.push("name_constraints");
    return faults;
  });
}

/** Key usages; a TLS server needs at least one of them (RFC 5246 section 7.4.2, RFC 8446 section 4.4.2.2). */
const SERVER_USAGES: ReadonlySet<string> = new Set(["digitalSignature", "keyEncipherment", "keyAgreement"]);

/**
 * Finds the faults of an authority's certificate (RFC 5280 section 6.1.4). `below` is the path below it, leaf first.
 * The same rules apply to an anchor, except that its own signature is not checked and a root of version 1 or 2 needs no
 * basicConstraints.
 */
export function issuerFaults(
  authority: Certificate,
  below: readonly Certificate[],
  options: { readonly now: Date; readonly isAnchor: boolean; readonly budget: Budget },
): TrustError[] {
  return orMalformed(() => {
    const faults = commonFaults(authority, { now: options.now, isLeaf: false, isAnchor: options.isAnchor });
    const constraints = basicConstraints(authority);
    const oldRoot = options.isAnchor && authority.version < 3;
    const certSign = keyUsages(authority)?.includes("keyCertSign") ?? true;
    if (!certSign || (constraints ? !constraints.ca : !oldRoot)) faults.push("not_a_ca");
    const counted = below.slice(1).filter(({ subject, issuer }) => !isSameOctets(subject, issuer)).length;
    if (counted > (constraints?.pathLength ?? Infinity)) faults.push("path_too_long");
    if (!isWithinConstraints(authority, below, options.budget)) faults.push("name_constraints");
    if (options.isAnchor && !hasValidPolicy(below)) faults.push("no_valid_policy");
    return faults;
  });
}

function commonFaults(
  certificate: Certificate,
  { now, isLeaf, isAnchor }: { readonly now: Date; readonly isLeaf: boolean; readonly isAnchor: boolean },
): TrustError[] {
  const faults = new Set<TrustError>(formFaults(certificate, { isLeaf, isAnchor }).map(({ error }) => error));
  if (isExpired(certificate, now)) faults.add("expired");
  if (isNotYetValid(certificate, now)) faults.add("not_yet_valid");
  if (!isAnchor && isWeakSignature(certificate)) faults.add("weak_signature");
  if (!isStrongKey(certificate)) faults.add("weak_key");
  return [...faults];
}

/** Returns the faults that `find` returns, or `malformed` if an extension cannot be read. */
function orMalformed(find: () => TrustError[]): TrustError[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof MalformedDer) return ["malformed"];
    throw error;
  }
}

const ANY_POLICY = "2.5.29.32.0";
const POLICY_MAPPINGS = "2.5.29.33";
const POLICY_CONSTRAINTS = "2.5.29.36";
const INHIBIT_ANY_POLICY = "2.5.29.54";
/** Maximum number of policies or mappings read from one certificate; real certificates have a few. */
const MAX_POLICIES = 200;

/**
 * State variables of RFC 5280 section 6.1.2. Of the policy tree, only the lowest level is kept, because it alone
 * decides whether the tree is empty.
 */
interface State {
  explicit: number;
  mapping: number;
  inhibitAny: number;
  /** Policies expected in the next certificate; null if the tree is empty. */
  expected: Level | null;
}

/** Lowest level of the policy tree. */
interface Level {
  /** Whether it includes anyPolicy. */
  readonly any: boolean;
  readonly policies: ReadonlySet<string>;
}

/**
 * Reports whether a path has a valid policy if one of its authorities requires one (RFC 5280 sections 6.1.3 d to 6.1.5
 * g, with anyPolicy as the initial set). `path` contains the certificates below the anchor, leaf first. Chrome and Go
 * refuse paths without a required policy. Throws MalformedDer.
 */
function hasValidPolicy(path: readonly Certificate[]): boolean {
  const length = path.length + 1;
  const state: State = {
    explicit: length,
    mapping: length,
    inhibitAny: length,
    expected: { any: true, policies: new Set() },
  };
  return path.toReversed().every((certificate, index) => {
    const isLeaf = index === path.length - 1;
    state.expected = processPolicies(certificate, state, isLeaf);
    if (state.explicit <= 0 && state.expected === null) return false;
    return isLeaf ? wrapUp(certificate, state) : prepareNext(certificate, state);
  });
}

/** Returns the lowest level after a certificate (RFC 5280 section 6.1.3 d and e). */
function processPolicies(certificate: Certificate, { expected, inhibitAny }: State, isLeaf: boolean): Level | null {
  const named = policyOids(certificate)?.slice(0, MAX_POLICIES) ?? null;
  if (named === null || expected === null) return null;
  const own = named.filter((policy) => policy !== ANY_POLICY);
  const kept = own.filter((policy) => expected.any || expected.policies.has(policy));
  const widens = named.includes(ANY_POLICY) && (inhibitAny > 0 || (!isLeaf && isSelfIssued(certificate)));
  const policies = new Set([...kept, ...(widens ? expected.policies : [])]);
  const any = widens && expected.any;
  return any || policies.size > 0 ? { any, policies } : null;
}

/**
 * Prepares the state for the next certificate (RFC 5280 section 6.1.4 a, b, h to j). False if a mapping has anyPolicy.
 */
function prepareNext(certificate: Certificate, state: State): boolean {
  const mappings = policyMappings(certificate);
  if (mappings.flat().includes(ANY_POLICY)) return false;
  if (state.expected !== null) state.expected = applyMappings(state.expected, mappings, state.mapping > 0);
  if (!isSelfIssued(certificate)) {
    state.explicit -= 1;
    state.mapping -= 1;
    state.inhibitAny -= 1;
  }
  const { requireExplicit, inhibitMapping } = policyConstraints(certificate);
  state.explicit = Math.min(state.explicit, requireExplicit);
  state.mapping = Math.min(state.mapping, inhibitMapping);
  state.inhibitAny = Math.min(state.inhibitAny, inhibitAnyPolicy(certificate));
  return true;
}

/** Reports whether the path has a valid policy after its leaf (RFC 5280 section 6.1.5 a, b and g). */
function wrapUp(leaf: Certificate, state: State): boolean {
  const explicit = policyConstraints(leaf).requireExplicit === 0 ? 0 : state.explicit - 1;
  return explicit > 0 || state.expected !== null;
}

function applyMappings(level: Level, mappings: readonly (readonly [string, string])[], allowed: boolean): Level | null {
  const from = new Set(mappings.map(([issuer]) => issuer));
  const stay = [...level.policies].filter((policy) => !from.has(policy));
  const become = mappings.flatMap(([issuer, subject]) =>
    allowed && (level.any || level.policies.has(issuer)) ? [subject] : [],
  );
  const policies = new Set([...stay, ...become]);
  return level.any || policies.size > 0 ? { any: level.any, policies } : null;
}

function policyMappings(certificate: Certificate): [string, string][] {
  const value = certificate.extensions.get(POLICY_MAPPINGS)?.value;
  if (!value) return [];
  return sequenceOf(value)
    .slice(0, MAX_POLICIES)
    .map((mapping) => {
      const [issuer, subject] = childrenOf(expectTag(mapping, TAG.sequence).contents);
      return [oidText(expectTag(issuer, TAG.oid).contents), oidText(expectTag(subject, TAG.oid).contents)];
    });
}

/** Parses policyConstraints. An absent field is Infinity. */
function policyConstraints(certificate: Certificate): { requireExplicit: number; inhibitMapping: number } {
  const value = certificate.extensions.get(POLICY_CONSTRAINTS)?.value;
  const fields = value ? sequenceOf(value) : [];
  const field = (tag: number): number => skipCerts(fields.find((one) => one.tag === tag));
  return { requireExplicit: field(0x80), inhibitMapping: field(0x81) };
}

function inhibitAnyPolicy(certificate: Certificate): number {
  const value = certificate.extensions.get(INHIBIT_ANY_POLICY)?.value;
  return value ? skipCerts(readDer(value, TAG.integer)) : Infinity;
}

/** Parses a SkipCerts, INTEGER (0..MAX). Returns Infinity if the field is absent. */
function skipCerts(field: Der | undefined): number {
  if (field === undefined) return Infinity;
  const [first] = field.contents;
  if (first === undefined || first >= 0x80) throw new MalformedDer("policy constraints");
  return field.contents.reduce((number, octet) => Math.min(number * 256 + octet, Number.MAX_SAFE_INTEGER), 0);
}
