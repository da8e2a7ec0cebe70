import { tooManyIterations, type Denials } from "#probe-agent/tools/dns/dnssec/denial.ts";
import { MAX_ITERATIONS } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { ancestor, wildcardAt, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { closestEncloser, nsecFacts, wildcardFor } from "#probe-agent/tools/dns/dnssec/nsec.ts";

/**
 * Result of looking for a proof that something does not exist. "insecure" means that the proof allows unsigned names
 * (opt-out), or that NSEC3 has too many iterations.
 */
export type Proof =
  | { readonly kind: "proven" }
  | { readonly kind: "insecure"; readonly reason: string }
  | { readonly kind: "missing"; readonly reason: string };

const PROVEN: Proof = { kind: "proven" };

function missing(reason: string): Proof {
  return { kind: "missing", reason };
}

function optOut(name: Name): Proof {
  return {
    kind: "insecure",
    reason: `${name.text} lies in an opt-out range of NSEC3: unsigned names can exist there (RFC 5155 section 6)`,
  };
}

function checkIterations(denials: Denials): Proof | null {
  if (!tooManyIterations(denials)) return null;
  const reason = `NSEC3 with ${denials.iterations} iterations, more than ${MAX_ITERATIONS}, so the zone counts as not signed (RFC 9276)`;
  return { kind: "insecure", reason };
}

/**
 * Reports whether a name's type list contains neither the type nor an alias, and is the list of the name's own zone.
 */
function lacksType(types: ReadonlySet<string>, type: string): boolean {
  if (types.has(type) || types.has("CNAME")) return false;
  // RFC 6840 sections 4.1 and 4.4: at a delegation, the parent's list counts for DS only and the child's list for every
  // other type.
  if (type === "DS") return !types.has("SOA");
  return !types.has("NS") || types.has("SOA");
}

/** Proves that the name exists and has no record of this type (RFC 4035 section 5.4, RFC 5155 sections 8.5 to 8.7). */
export function proveNoData(denials: Denials, zone: Name, name: Name, type: string): Proof {
  const tooMany = checkIterations(denials);
  if (tooMany !== null) return tooMany;
  const fault = missing(`No NSEC or NSEC3 record proves that ${name.text} has no ${type}`);
  if (denials.nsec.length > 0) {
    const { match, cover, empty } = nsecFacts(zone, denials.nsec, name);
    if (match !== null) return lacksType(match.types, type) ? PROVEN : missing(contradiction(name, type));
    if (empty) return PROVEN;
    const wildcard = cover === null ? null : wildcardFor(cover, name);
    const source = wildcard === null ? null : nsecFacts(zone, denials.nsec, wildcard).match;
    return source !== null && lacksType(source.types, type) ? PROVEN : fault;
  }
  if (denials.nsec3 === null) return fault;
  const { match, encloser, cover } = denials.nsec3.facts(name);
  if (match !== null) return lacksType(match.types, type) ? PROVEN : missing(contradiction(name, type));
  if (encloser === null) return missing(`${name.text}: no NSEC3 record shows its closest encloser`);
  if (cover === null) return missing(`${name.text}: no NSEC3 record covers its next closer name`);
  const wildcard = wildcardAt(encloser.name);
  const source = wildcard === null ? null : denials.nsec3.match(wildcard);
  if (source !== null && lacksType(source.types, type)) return cover.optOut ? optOut(name) : PROVEN;
  return cover.optOut ? optOut(name) : fault;
}

function contradiction(name: Name, type: string): string {
  return `The server denies ${type} of ${name.text}, but the zone's own list of types contains ${type}, an alias or a delegation`;
}

/**
 * Proves that neither the name nor a wildcard that would answer for it exists (RFC 4035 section 5.4, RFC 5155 section
 * 8.4).
 */
export function proveNoName(denials: Denials, zone: Name, name: Name): Proof {
  const tooMany = checkIterations(denials);
  if (tooMany !== null) return tooMany;
  if (denials.nsec.length > 0) {
    const { match, cover, empty } = nsecFacts(zone, denials.nsec, name);
    if (match !== null || empty)
      return missing(`${name.text} is denied, but the zone's own NSEC record shows that it exists`);
    if (cover === null) return missing(`No NSEC record proves that ${name.text} does not exist`);
    const wildcard = wildcardFor(cover, name);
    const gap = wildcard === null ? cover : nsecFacts(zone, denials.nsec, wildcard).cover;
    return gap === null ? missing(`No NSEC record denies the wildcard ${wildcard?.text} for ${name.text}`) : PROVEN;
  }
  if (denials.nsec3 === null) return missing(`No NSEC or NSEC3 record proves that ${name.text} does not exist`);
  const { match, encloser, cover } = denials.nsec3.facts(name);
  if (match !== null) return missing(`${name.text} is denied, but the zone's own NSEC3 record shows that it exists`);
  if (encloser === null) return missing(`${name.text}: no NSEC3 record shows its closest encloser`);
  if (cover === null) return missing(`${name.text}: no NSEC3 record covers its next closer name`);
  const wildcard = wildcardAt(encloser.name);
  const gap = wildcard === null ? cover : denials.nsec3.cover(wildcard);
  if (gap === null) return missing(`No NSEC3 record denies the wildcard ${wildcard?.text} for ${name.text}`);
  return cover.optOut ? optOut(name) : PROVEN;
}

/**
 * Proves that no name closer than the wildcard exists, so that the wildcard can answer (RFC 4035 section 5.3.4, RFC
 * 5155 section 8.8).
 */
export function proveNoCloser(denials: Denials, zone: Name, name: Name, wildcard: Name): Proof {
  const tooMany = checkIterations(denials);
  if (tooMany !== null) return tooMany;
  const fault = missing(
    `The answer for ${name.text} is expanded from ${wildcard.text}, but no record proves that no closer name exists`,
  );
  const enclosing = wildcard.labels.length - 1;
  if (denials.nsec.length > 0) {
    const { cover } = nsecFacts(zone, denials.nsec, name);
    // Here, a name with other names below it is its own closest encloser.
    if (cover === null) return fault;
    return closestEncloser(cover, name).labels.length === enclosing ? PROVEN : fault;
  }
  const cover = denials.nsec3?.cover(ancestor(name, enclosing + 1)) ?? null;
  if (cover === null) return fault;
  return cover.optOut ? optOut(name) : PROVEN;
}

/**
 * Result of reading a denial of DS for a name: no zone begins there, an unsigned zone begins there, or the denial
 * proves nothing.
 */
type NoDs =
  | { readonly kind: "no_cut" }
  /** Nothing exists at the name or below it. */
  | { readonly kind: "absent" }
  | { readonly kind: "insecure"; readonly reason: string }
  | { readonly kind: "missing"; readonly reason: string };

/** Reads a denial of DS from the parent's zone (RFC 4035 section 5.2, RFC 5155 sections 8.6 and 8.9). */
export function readNoDs(denials: Denials, zone: Name, child: Name): NoDs {
  const tooMany = checkIterations(denials);
  if (tooMany !== null && tooMany.kind === "insecure") return tooMany;
  const fault = { kind: "missing", reason: `No NSEC or NSEC3 record proves that ${child.text} has no DS` } as const;
  if (denials.nsec.length > 0) {
    const { match, cover, empty } = nsecFacts(zone, denials.nsec, child);
    if (match !== null) return noDsFromTypes(match.types, child, "NSEC");
    if (empty) return { kind: "no_cut" };
    return cover === null ? fault : { kind: "absent" };
  }
  if (denials.nsec3 === null) return fault;
  const { match, encloser, cover } = denials.nsec3.facts(child);
  if (match !== null) return noDsFromTypes(match.types, child, "NSEC3");
  if (encloser === null || cover === null) return fault;
  if (!cover.optOut) return { kind: "absent" };
  return {
    kind: "insecure",
    reason: `${zone.text} proves with an opt-out range of NSEC3 that ${child.text} has no DS record`,
  };
}

function noDsFromTypes(types: ReadonlySet<string>, child: Name, by: string): NoDs {
  if (types.has("DS"))
    return { kind: "missing", reason: `DS of ${child.text} is denied, but the ${by} record lists it` };
  if (types.has("SOA"))
    return {
      kind: "missing",
      reason: `The ${by} record for ${child.text} is from the child zone, not from its parent`,
    };
  if (!types.has("NS")) return { kind: "no_cut" };
  return {
    kind: "insecure",
    reason: `The parent proves with ${by} that ${child.text} has no DS record: an unsigned delegation`,
  };
}
