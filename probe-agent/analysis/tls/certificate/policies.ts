import {
  childrenOf,
  expectTag,
  MalformedDer,
  oidText,
  readDer,
  sequenceOf,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { policyOids } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isSelfIssued } from "#probe-agent/analysis/tls/certificate/self-issued.ts";

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
export function hasValidPolicy(path: readonly Certificate[]): boolean {
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
