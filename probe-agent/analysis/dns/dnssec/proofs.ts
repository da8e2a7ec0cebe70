import { tooManyIterations, type Denials } from "#probe-agent/analysis/dns/dnssec/denial.ts";
import { MAX_ITERATIONS } from "#probe-agent/analysis/dns/dnssec/effort.ts";
import { ancestor, wildcardAt, type Name } from "#probe-agent/analysis/dns/dnssec/names.ts";
import { closestEncloser, nsecFacts, wildcardFor } from "#probe-agent/analysis/dns/dnssec/nsec.ts";

/** Whether something is proven not to exist. insecure: the proof leaves room for unsigned names (opt-out). */
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
    reason: `${name.text} lies in an opt-out range of NSEC3: unsigned names may exist there (RFC 5155 section 6)`,
  };
}

function iterated(denials: Denials): Proof | null {
  if (!tooManyIterations(denials)) return null;
  const reason = `NSEC3 with ${denials.iterations} iterations, more than ${MAX_ITERATIONS}: the zone counts as not signed (RFC 9276)`;
  return { kind: "insecure", reason };
}

/** Neither the type nor an alias is in a name's type list, and the list is that of the name's own zone. */
function lacks(types: ReadonlySet<string>, type: string): boolean {
  if (types.has(type) || types.has("CNAME")) return false;
  // RFC 6840 section 4.1 and 4.4: at a delegation the parent speaks for DS alone, the child for all but DS.
  if (type === "DS") return !types.has("SOA");
  return !types.has("NS") || types.has("SOA");
}

/** The name exists and has no record of the type (RFC 4035 section 5.4, RFC 5155 sections 8.5 to 8.7). */
export function proveNoData(denials: Denials, zone: Name, name: Name, type: string): Proof {
  const tooMany = iterated(denials);
  if (tooMany !== null) return tooMany;
  const fault = missing(`${name.text} without ${type} is not proven: no NSEC or NSEC3 record shows it`);
  if (denials.nsec.length > 0) {
    const { match, cover, empty } = nsecFacts(zone, denials.nsec, name);
    if (match !== null) return lacks(match.types, type) ? PROVEN : missing(contradiction(name, type));
    if (empty) return PROVEN;
    const wildcard = cover === null ? null : wildcardFor(cover, name);
    const source = wildcard === null ? null : nsecFacts(zone, denials.nsec, wildcard).match;
    return source !== null && lacks(source.types, type) ? PROVEN : fault;
  }
  if (denials.nsec3 === null) return fault;
  const { match, encloser, cover } = denials.nsec3.facts(name);
  if (match !== null) return lacks(match.types, type) ? PROVEN : missing(contradiction(name, type));
  if (encloser === null) return missing(`${name.text}: no NSEC3 record shows its closest encloser`);
  if (cover === null) return missing(`${name.text}: no NSEC3 record covers its next closer name`);
  const wildcard = wildcardAt(encloser.name);
  const source = wildcard === null ? null : denials.nsec3.match(wildcard);
  if (source !== null && lacks(source.types, type)) return cover.optOut ? optOut(name) : PROVEN;
  return cover.optOut ? optOut(name) : fault;
}

function contradiction(name: Name, type: string): string {
  return `${name.text} without ${type} is contradicted: the zone's own list of its types has ${type}, an alias or a delegation`;
}

/** The name does not exist, nor a wildcard that would answer for it (RFC 4035 section 5.4, RFC 5155 section 8.4). */
export function proveNoName(denials: Denials, zone: Name, name: Name): Proof {
  const tooMany = iterated(denials);
  if (tooMany !== null) return tooMany;
  if (denials.nsec.length > 0) {
    const { match, cover, empty } = nsecFacts(zone, denials.nsec, name);
    if (match !== null || empty) return missing(`${name.text} is denied, but the zone's own NSEC shows that it exists`);
    if (cover === null) return missing(`That ${name.text} does not exist is not proven: no NSEC record covers it`);
    const wildcard = wildcardFor(cover, name);
    const gap = wildcard === null ? cover : nsecFacts(zone, denials.nsec, wildcard).cover;
    return gap === null ? missing(`No NSEC record denies the wildcard ${wildcard?.text} for ${name.text}`) : PROVEN;
  }
  if (denials.nsec3 === null) return missing(`That ${name.text} does not exist is not proven: no NSEC or NSEC3 record`);
  const { match, encloser, cover } = denials.nsec3.facts(name);
  if (match !== null) return missing(`${name.text} is denied, but the zone's own NSEC3 shows that it exists`);
  if (encloser === null) return missing(`${name.text}: no NSEC3 record shows its closest encloser`);
  if (cover === null) return missing(`${name.text}: no NSEC3 record covers its next closer name`);
  const wildcard = wildcardAt(encloser.name);
  const gap = wildcard === null ? cover : denials.nsec3.cover(wildcard);
  if (gap === null) return missing(`No NSEC3 record denies the wildcard ${wildcard?.text} for ${name.text}`);
  return cover.optOut ? optOut(name) : PROVEN;
}

/** No name closer than the wildcard exists, so that it may answer (RFC 4035 section 5.3.4, RFC 5155 section 8.8). */
export function proveNoCloser(denials: Denials, zone: Name, name: Name, wildcard: Name): Proof {
  const tooMany = iterated(denials);
  if (tooMany !== null) return tooMany;
  const fault = missing(
    `The answer for ${name.text} is made from ${wildcard.text}, but that no closer name exists is not proven`,
  );
  const enclosing = wildcard.labels.length - 1;
  if (denials.nsec.length > 0) {
    const { cover } = nsecFacts(zone, denials.nsec, name);
    // A name with others below it is its own closest encloser here.
    if (cover === null) return fault;
    return closestEncloser(cover, name).labels.length === enclosing ? PROVEN : fault;
  }
  const cover = denials.nsec3?.cover(ancestor(name, enclosing + 1)) ?? null;
  if (cover === null) return fault;
  return cover.optOut ? optOut(name) : PROVEN;
}

/** What a denial of DS says about a name: no zone begins there, an unsigned one does, or it says nothing. */
type NoDs =
  | { readonly kind: "no_cut" }
  /** Nothing is there or below. */
  | { readonly kind: "absent" }
  | { readonly kind: "insecure"; readonly reason: string }
  | { readonly kind: "missing"; readonly reason: string };

/** Reads a denial of DS from the parent's zone (RFC 4035 section 5.2, RFC 5155 section 8.6 and 8.9). */
export function readNoDs(denials: Denials, zone: Name, child: Name): NoDs {
  const tooMany = iterated(denials);
  if (tooMany !== null && tooMany.kind === "insecure") return tooMany;
  const fault = { kind: "missing", reason: `No NSEC or NSEC3 record proves that ${child.text} has no DS` } as const;
  if (denials.nsec.length > 0) {
    const { match, cover, empty } = nsecFacts(zone, denials.nsec, child);
    if (match !== null) return fromTypes(match.types, child, "NSEC");
    if (empty) return { kind: "no_cut" };
    return cover === null ? fault : { kind: "absent" };
  }
  if (denials.nsec3 === null) return fault;
  const { match, encloser, cover } = denials.nsec3.facts(child);
  if (match !== null) return fromTypes(match.types, child, "NSEC3");
  if (encloser === null || cover === null) return fault;
  if (!cover.optOut) return { kind: "absent" };
  return {
    kind: "insecure",
    reason: `${zone.text} proves by an opt-out range of NSEC3 that ${child.text} has no DS record`,
  };
}

function fromTypes(types: ReadonlySet<string>, child: Name, by: string): NoDs {
  if (types.has("DS"))
    return { kind: "missing", reason: `DS of ${child.text} is denied, but the ${by} record lists it` };
  if (types.has("SOA"))
    return { kind: "missing", reason: `The ${by} record for ${child.text} is the child's own, not its parent's` };
  if (!types.has("NS")) return { kind: "no_cut" };
  return {
    kind: "insecure",
    reason: `The parent proves by ${by} that ${child.text} has no DS record: an unsigned delegation`,
  };
}
