import { isBelow, makeName, nameField, type Name } from "#probe-agent/analysis/dns/dnssec/names.ts";
import { findRrset, type Rrset } from "#probe-agent/analysis/dns/dnssec/rrsets.ts";

/** A redirect from one name to another by a CNAME or DNAME. */
export interface Redirect {
  readonly kind: "cname" | "dname";
  /** RRset that carries the signatures: the CNAME of the name itself, or the DNAME above it. */
  readonly set: Rrset;
  /** Name to look up next. Null if that name is unreadable or too long. */
  readonly target: Name | null;
  /**
   * Whether the DNAME makes a name of more than 255 octets. The server then answers YXDOMAIN (RFC 6672 section 2.2).
   */
  readonly tooLong: boolean;
  /**
   * Why the CNAME differs from the one that the DNAME makes. Null if it is the same, or if there is no CNAME or no
   * DNAME.
   */
  readonly fault: string | null;
}

/**
 * Finds the alias of `owner` in an answer, or null if there is none. A CNAME below a DNAME is synthesised by the server
 * and has no signature. Then the DNAME must be validated, and the CNAME must follow from it (RFC 6672 section 5.3.1).
 */
export function findRedirect(sets: readonly Rrset[], owner: Name): Redirect | null {
  const cname = findRrset(sets, owner, "CNAME");
  const dname = closestDname(sets, owner);
  const written = nameField(cname?.records[0]?.typed, "cname");
  if (dname === null) {
    return cname === undefined ? null : { kind: "cname", set: cname, target: written, tooLong: false, fault: null };
  }
  const { target, tooLong } = substitute(owner, dname);
  const fault = cname === undefined ? null : faultOf(owner, cname, dname, target);
  return { kind: "dname", set: dname, target: cname === undefined ? target : written, tooLong, fault };
}

function closestDname(sets: readonly Rrset[], owner: Name): Rrset | null {
  const above = sets.filter((set) => set.type === "DNAME" && isBelow(owner, set.owner));
  return above.toSorted((one, other) => other.owner.labels.length - one.owner.labels.length)[0] ?? null;
}

/** Replaces the DNAME's owner at the end of the name by the DNAME's target (RFC 6672 section 2.2). */
function substitute(owner: Name, dname: Rrset): { readonly target: Name | null; readonly tooLong: boolean } {
  // More than one DNAME at a name is an error of the zone (RFC 6672 section 2.4), and no target is the right one.
  const target = dname.records.length === 1 ? nameField(dname.records[0]?.typed, "target") : null;
  if (target === null) return { target: null, tooLong: false };
  const kept = owner.labels.slice(0, owner.labels.length - dname.owner.labels.length);
  const made = makeName([...kept, ...target.labels]);
  return { target: made, tooLong: made === null };
}

/**
 * Returns the fault of a CNAME below a DNAME, or null if there is none. Every record of the set must follow from the
 * DNAME, because no signature covers the others.
 */
function faultOf(owner: Name, cname: Rrset, dname: Rrset, target: Name | null): string | null {
  const written = cname.records.map(({ typed }) => nameField(typed, "cname"));
  if (target !== null && written.every((name) => name?.text === target.text)) return null;
  const wrong = written.find((name) => name?.text !== target?.text);
  const made = target === null ? "no valid name" : target.text;
  return `The CNAME of ${owner.text} points to ${wrong?.text ?? "an unreadable name"}, but the DNAME of ${dname.owner.text} makes it ${made}`;
}
