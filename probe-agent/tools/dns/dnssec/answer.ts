import { hasAnswer } from "#probe-agent/tools/dns/dnssec-resolver.ts";
import {
  closestAnchor,
  findUnsignedCut,
  findZone,
  warnOfIterations,
  type SecureZone,
} from "#probe-agent/tools/dns/dnssec/chain.ts";
import { readDenials, type Denials } from "#probe-agent/tools/dns/dnssec/denial.ts";
import {
  closestAbove,
  isBelow,
  parentOf,
  parseName,
  type Name,
  makeName,
  nameField,
} from "#probe-agent/tools/dns/dnssec/names.ts";
import { proveNoCloser, proveNoData, proveNoName, type Proof } from "#probe-agent/tools/dns/dnssec/proofs.ts";
import { groupRrsets, type Rrset, findRrset } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import { noteUse, type Asking, type Reply, type Session, type Status } from "#probe-agent/tools/dns/dnssec/session.ts";
import { verifyRrset } from "#probe-agent/tools/dns/dnssec/signatures.ts";

// Resolvers stop earlier. Each link can be in a different zone.
const MAX_LINKS = 16;

/** Verdict on one answer. */
export interface AnswerVerdict {
  readonly status: Status;
  /**
   * Record type that proves a denial: that a record, a name, or a name closer than a wildcard does not exist. Null if
   * nothing is denied.
   */
  readonly denial: "nsec" | "nsec3" | null;
  /** Sentences that do not name the queried type. */
  readonly reasons: readonly string[];
}

interface Part {
  readonly status: Status;
  readonly denial: AnswerVerdict["denial"];
  readonly reasons: readonly string[];
}

function part(status: Status, reasons: readonly string[], denial: Part["denial"] = null): Part {
  return { status, reasons, denial };
}

/** Validates the answer to one question. Every alias is validated in its own zone, and the weakest part decides. */
export function* validateAnswer(
  session: Session,
  question: { name: string; type: string },
  reply: Reply,
): Asking<AnswerVerdict> {
  const name = parseName(question.name);
  if (name === null) return part("indeterminate", ["The name is not a valid DNS name"]);
  if (!hasAnswer(reply)) return part("indeterminate", [`There is no answer to validate: ${reply.status}`]);
  const sets = groupRrsets(reply.answers);
  const parts: Part[] = [];
  const passed = new Set<string>();
  let owner = name;
  while (!passed.has(owner.text)) {
    if (passed.size >= MAX_LINKS) {
      parts.push(
        part("indeterminate", [`${name.text} has more than ${MAX_LINKS} aliases, so the rest is not validated`]),
      );
      break;
    }
    passed.add(owner.text);
    const redirect = findRedirect(sets, owner);
    const wanted = findWanted(sets, owner, question.type, redirect);
    for (const set of wanted) parts.push(yield* validatePositive(session, set, reply));
    if (wanted.length > 0) break;
    if (redirect === null) {
      parts.push(yield* validateNegative(session, owner, question.type, reply));
      break;
    }
    parts.push(yield* validateRedirect(session, owner, redirect, reply));
    // A question for the alias itself ends here.
    if (redirect.target === null || question.type === "CNAME" || question.type === "ANY") break;
    owner = redirect.target;
  }
  return combine(parts);
}

/**
 * Returns the RRsets at this name that answer the question. A synthesised CNAME is left out: it is validated with its
 * DNAME.
 */
function findWanted(sets: readonly Rrset[], owner: Name, type: string, redirect: Redirect | null): readonly Rrset[] {
  const synthesised = redirect?.kind === "dname";
  return sets.filter(
    (set) =>
      set.owner.text === owner.text && (set.type === type || type === "ANY") && !(set.type === "CNAME" && synthesised),
  );
}

/** Validates one alias. It is secure if its RRset is validated and, if there is a DNAME, the CNAME follows from it. */
function* validateRedirect(session: Session, owner: Name, redirect: Redirect, reply: Reply): Asking<Part> {
  const found = yield* validatePositive(session, redirect.set, reply);
  // Without signatures there is nothing to compare the CNAME with.
  if (found.status !== "secure") return found;
  if (redirect.fault !== null) return part("bogus", [redirect.fault]);
  if (redirect.target !== null) return found;
  const { text } = redirect.set.owner;
  if (!redirect.tooLong) return part("bogus", [`${owner.text} is redirected to an unreadable name`]);
  if (reply.status !== "YXDOMAIN") {
    return part("bogus", [
      `${owner.text} is redirected to a name that is too long, but the server does not report YXDOMAIN`,
    ]);
  }
  return part("secure", [`The DNAME of ${text} makes a name that is too long: no such name can exist (YXDOMAIN)`]);
}

const ORDER: readonly Status[] = ["bogus", "indeterminate", "insecure", "secure"];

/** Combines the parts: the weakest status, with the reasons for it. */
function combine(parts: readonly Part[]): AnswerVerdict {
  const status = ORDER.find((candidate) => parts.some((one) => one.status === candidate)) ?? "indeterminate";
  const decisive = parts.filter((one) => one.status === status);
  return {
    status,
    denial: parts.findLast(({ denial }) => denial !== null)?.denial ?? null,
    reasons: [...new Set(decisive.flatMap(({ reasons }) => reasons))],
  };
}

/** Returns the name whose zone holds the records of `type` at `name`. DS records are in the parent's zone. */
function homeOf(name: Name, type: string): Name {
  return type === "DS" ? parentOf(name) : name;
}

/**
 * Returns the name whose zone should be looked up: the deepest signer if there is one, otherwise the name itself. A
 * signer above the closest trust anchor is ignored, because it has no authority below that anchor.
 */
function zoneHint(session: Session, name: Name, type: string, sets: readonly Rrset[]): Name {
  const home = homeOf(name, type);
  const signers = sets.flatMap(({ signatures }) => signatures.slice(0, 16).map(({ signer }) => signer));
  const signer = closestAbove(home, signers);
  const anchor = closestAnchor(session, home);
  return signer === null || (anchor !== null && isBelow(anchor, signer)) ? home : signer;
}

function* validatePositive(session: Session, set: Rrset, reply: Reply): Asking<Part> {
  const trust = yield* findZone(session, zoneHint(session, set.owner, set.type, [set]), reply.authority);
  if (trust.status !== "secure") return part(trust.status, trust.reasons);
  const checked = verifyRrset(session, set, trust.zone, trust.keys);
  if (!checked.ok) return part("bogus", checked.reasons);
  noteUse(session, checked);
  if (checked.wildcard === null) return part("secure", [`Signed by ${trust.zone.text}`]);
  const denials = readReplyDenials(session, reply, trust);
  const proof = proveNoCloser(denials, trust.zone, set.owner, checked.wildcard);
  const proven = `Signed by ${trust.zone.text}, expanded from the wildcard ${checked.wildcard.text}`;
  return partFromProof(session, { proof, denials, zone: trust.zone, proven });
}

function* validateNegative(session: Session, name: Name, type: string, reply: Reply): Asking<Part> {
  const sets = groupRrsets(reply.authority).filter((set) => ["NSEC", "NSEC3", "SOA"].includes(set.type));
  const trust = yield* findZone(session, zoneHint(session, name, type, sets), reply.authority);
  if (trust.status !== "secure") return part(trust.status, trust.reasons);
  const found = readProof(session, trust, name, type, reply);
  if (found.proof.kind !== "missing") return partFromProof(session, found);
  // The authority section can hold records of a zone above the zone of the name (RFC 4035 section 5.2).
  const home = homeOf(name, type);
  if (isOwnDenial(reply, sets, trust)) {
    // In an opt-out range an unsigned zone can hide, but not where the parent itself says that there is none: then the
    // denial is its own, and must be complete (RFC 5155 section 8.4).
    const hidden = yield* findZone(session, home, reply.authority);
    if (hidden.status === "insecure" && hidden.denied === true) return partFromProof(session, found);
  }
  const cut = findUnsignedCut(session, trust, found.denials, home);
  if (cut !== null) return part("insecure", cut.reasons);
  const below = yield* findZone(session, home, reply.authority);
  if (below.status !== "secure") return part(below.status, below.reasons);
  return partFromProof(
    session,
    below.zone.text === trust.zone.text ? found : readProof(session, below, name, type, reply),
  );
}

/** Reports whether a zone, and none below it, says that a name does not exist: negative answers have the SOA of theirs. */
function isOwnDenial({ status }: Reply, sets: readonly Rrset[], { zone }: SecureZone): boolean {
  const speakers = sets.filter((set) => set.type === "SOA").map(({ owner }) => owner);
  return status === "NXDOMAIN" && speakers.length > 0 && !speakers.some((speaker) => isBelow(speaker, zone));
}

interface FoundProof {
  readonly proof: Proof;
  readonly denials: Denials;
  readonly zone: Name;
  /** Statement that the proof shows to be true. */
  readonly proven: string;
}

/** Checks what a secure zone's records in the reply prove about a name that has no answer. */
function readProof(session: Session, zone: SecureZone, name: Name, type: string, reply: Reply): FoundProof {
  const denials = readReplyDenials(session, reply, zone);
  const absent = reply.status === "NXDOMAIN";
  const proof =
    reply.status === "YXDOMAIN"
      ? NO_REDIRECT
      : absent
        ? proveNoName(denials, zone.zone, name)
        : proveNoData(denials, zone.zone, name, type);
  const what = absent ? `${name.text} does not exist` : `${name.text} has no record of this type`;
  return { proof, denials, zone: zone.zone, proven: `${zone.zone.text} proves that ${what}` };
}

const NO_REDIRECT: Proof = {
  kind: "missing",
  reason: "The server reports that a DNAME makes a name that is too long (YXDOMAIN), but there is no such DNAME",
};

function readReplyDenials(session: Session, reply: Reply, { zone, keys }: SecureZone): Denials {
  return readDenials(session, reply.authority, zone, keys);
}

function partFromProof(session: Session, { proof, denials, zone, proven }: FoundProof): Part {
  const { kind } = denials;
  if (proof.kind === "missing") return part("bogus", [proof.reason, ...denials.faults], kind);
  for (const signed of denials.signatures) noteUse(session, signed);
  warnOfIterations(session, zone, denials.iterations);
  if (proof.kind === "insecure") return part("insecure", [proof.reason], kind);
  return part("secure", [proven], kind);
}

/** A redirect from one name to another by a CNAME or DNAME. */
interface Redirect {
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
