import { findZone, hasAnswer, warnOfIterations } from "#probe-agent/analysis/dnssec/chain.ts";
import { readDenials, type Denials } from "#probe-agent/analysis/dnssec/denial.ts";
import type { ZoneKey } from "#probe-agent/analysis/dnssec/keys.ts";
import {
  closestAbove,
  isBelow,
  makeName,
  nameField,
  parentOf,
  parseName,
  type Name,
} from "#probe-agent/analysis/dnssec/names.ts";
import { proveNoCloser, proveNoData, proveNoName, type Proof } from "#probe-agent/analysis/dnssec/proofs.ts";
import { findRrset, groupRrsets, type Rrset } from "#probe-agent/analysis/dnssec/rrsets.ts";
import { noteUse, type Asking, type Reply, type Session, type Status } from "#probe-agent/analysis/dnssec/session.ts";
import { verifyRrset } from "#probe-agent/analysis/dnssec/signatures.ts";

// Resolvers stop sooner; each link may lie in a zone of its own.
const MAX_LINKS = 16;

/** The verdict on one answer. */
export interface AnswerVerdict {
  readonly status: Status;
  /** How something was denied: that there is no record, no name, or none closer than a wildcard. */
  readonly denial: "nsec" | "nsec3" | null;
  /** Sentences that do not name the type asked for. */
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

/** Validates the answer to one question, every alias of it in its own zone: the weakest part decides. */
export function* validateAnswer(
  session: Session,
  question: { name: string; type: string },
  reply: Reply,
): Asking<AnswerVerdict> {
  const name = parseName(question.name);
  if (name === null) return part("indeterminate", ["The name cannot be written in the DNS"]);
  if (!hasAnswer(reply)) return part("indeterminate", [`There is no answer to validate: ${reply.status}`]);
  const sets = groupRrsets(reply.answers);
  const parts: Part[] = [];
  const passed = new Set<string>();
  let owner = name;
  while (!passed.has(owner.text) && passed.size < MAX_LINKS) {
    passed.add(owner.text);
    const wanted = findRrset(sets, owner, question.type);
    const alias = wanted === undefined ? findRrset(sets, owner, "CNAME") : undefined;
    const redirect = wanted === undefined ? dnameAbove(sets, owner) : undefined;
    const set = wanted ?? redirect?.set ?? alias;
    if (set === undefined) {
      // Of an alias' target the resolver may have said nothing: then there is nothing to prove.
      parts.push(yield* validateNegative(session, owner, question.type, reply));
      break;
    }
    parts.push(yield* validatePositive(session, set, reply));
    if (wanted !== undefined) break;
    const next = redirect === undefined ? nameField(alias?.records[0]?.typed, "cname") : redirect.target;
    if (next === null) {
      parts.push(part("bogus", [`${owner.text} is redirected to a name that is too long or unreadable`]));
      break;
    }
    owner = next;
  }
  return combine(parts);
}

/** A DNAME above the name: the CNAME beside it is not signed but made from it (RFC 6672 section 5.3.1). */
function dnameAbove(sets: readonly Rrset[], owner: Name): { set: Rrset; target: Name | null } | undefined {
  const set = sets.find(({ type, owner: above }) => type === "DNAME" && isBelow(owner, above));
  if (set === undefined) return undefined;
  const target = nameField(set.records[0]?.typed, "target");
  const kept = owner.labels.slice(0, owner.labels.length - set.owner.labels.length);
  return { set, target: target === null ? null : makeName([...kept, ...target.labels]) };
}

const ORDER: readonly Status[] = ["bogus", "indeterminate", "insecure", "secure"];

/** The weakest status and what led to it. */
export function combine(parts: readonly Part[]): AnswerVerdict {
  const status = ORDER.find((candidate) => parts.some((one) => one.status === candidate)) ?? "indeterminate";
  const decisive = parts.filter((one) => one.status === status);
  return {
    status,
    denial: parts.findLast(({ denial }) => denial !== null)?.denial ?? null,
    reasons: [...new Set(decisive.flatMap(({ reasons }) => reasons))],
  };
}

/** Where to look for the zone of a name: its deepest signer if it has one, else the name itself. */
function zoneHint(name: Name, type: string, sets: readonly Rrset[]): Name {
  // The records of DS are the parent's.
  const owner = type === "DS" ? parentOf(name) : name;
  const signers = sets.flatMap(({ signatures }) => signatures.slice(0, 16).map(({ signer }) => signer));
  return closestAbove(owner, signers) ?? owner;
}

function* validatePositive(session: Session, set: Rrset, reply: Reply): Asking<Part> {
  const trust = yield* findZone(session, zoneHint(set.owner, set.type, [set]));
  if (trust.status !== "secure") return part(trust.status, trust.reasons);
  const checked = verifyRrset(session, set, trust.zone, trust.keys);
  if (!checked.ok) return part("bogus", checked.reasons);
  noteUse(session, checked);
  if (checked.wildcard === null) return part("secure", [`Signed by ${trust.zone.text}`]);
  const denials = denialsOf(session, reply, trust);
  const proof = proveNoCloser(denials, trust.zone, set.owner, checked.wildcard);
  return fromProof(
    session,
    proof,
    denials,
    trust.zone,
    `Signed by ${trust.zone.text}, made from ${checked.wildcard.text}`,
  );
}

function* validateNegative(session: Session, name: Name, type: string, reply: Reply): Asking<Part> {
  const sets = groupRrsets(reply.authority).filter((set) => ["NSEC", "NSEC3", "SOA"].includes(set.type));
  const trust = yield* findZone(session, zoneHint(name, type, sets));
  if (trust.status !== "secure") return part(trust.status, trust.reasons);
  const denials = denialsOf(session, reply, trust);
  const absent = reply.status === "NXDOMAIN";
  const proof = absent ? proveNoName(denials, trust.zone, name) : proveNoData(denials, trust.zone, name, type);
  const what = absent ? `${name.text} does not exist` : `${name.text} has no record of the type`;
  return fromProof(session, proof, denials, trust.zone, `${trust.zone.text} proves that ${what}`);
}

function denialsOf(session: Session, reply: Reply, { zone, keys }: { zone: Name; keys: readonly ZoneKey[] }): Denials {
  return readDenials(session, reply.authority, zone, keys);
}

function fromProof(session: Session, proof: Proof, denials: Denials, zone: Name, proven: string): Part {
  const { kind } = denials;
  if (proof.kind === "missing") return part("bogus", [proof.reason, ...denials.faults], kind);
  for (const signed of denials.signatures) noteUse(session, signed);
  warnOfIterations(session, zone, denials.iterations);
  if (proof.kind === "insecure") return part("insecure", [proof.reason], kind);
  return part("secure", [proven], kind);
}
