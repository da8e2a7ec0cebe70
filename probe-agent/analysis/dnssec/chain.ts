import { dsOf, keysOf, verifyKeys, type Ds, type Trust } from "#probe-agent/analysis/dnssec/delegations.ts";
import { readDenials } from "#probe-agent/analysis/dnssec/denial.ts";
import type { ZoneKey } from "#probe-agent/analysis/dnssec/keys.ts";
import { ancestor, closestAbove, isBelow, type Name } from "#probe-agent/analysis/dnssec/names.ts";
import { readNoDs } from "#probe-agent/analysis/dnssec/proofs.ts";
import { findRrset, groupRrsets, type Rrset } from "#probe-agent/analysis/dnssec/rrsets.ts";
import {
  noteUse,
  report,
  type Asking,
  type Reply,
  type Session,
  type Step,
  type ZoneTrust,
} from "#probe-agent/analysis/dnssec/session.ts";
import { verifyRrset } from "#probe-agent/analysis/dnssec/signatures.ts";

interface SecureZone {
  readonly zone: Name;
  readonly keys: readonly ZoneKey[];
}

/** The resolver spoke for the zone: there are records, or there are none. */
export function hasAnswer(reply: Reply): boolean {
  return reply.status === "NOERROR" || reply.status === "NXDOMAIN";
}

/**
 * Follows the chain of trust (RFC 4035 section 5) from the closest trust anchor down to the zone `target` is in,
 * asking for DS label by label: that a zone is not signed is proven by its parent or not believed.
 */
export function* findZone(session: Session, target: Name): Asking<ZoneTrust> {
  const anchors = [...session.anchors.values()];
  const start = closestAbove(
    target,
    anchors.map(({ zone }) => zone),
  );
  const anchor = start === null ? undefined : session.anchors.get(start.text);
  if (anchor === undefined) {
    return { status: "indeterminate", zone: target, reasons: [`No trust anchor is at or above ${target.text}`] };
  }
  let trust = yield* enterAnchor(session, anchor.zone, anchor.trust);
  for (let count = anchor.zone.labels.length + 1; count <= target.labels.length; count += 1) {
    if (trust.status !== "secure") return trust;
    const step = yield* stepDown(session, trust, ancestor(target, count));
    if (step.status === "absent") return trust;
    if (step.status !== "no_cut") trust = step;
  }
  return trust;
}

function* enterAnchor(session: Session, zone: Name, trust: Trust): Asking<ZoneTrust> {
  const known = session.entered.get(zone.text);
  if (known !== undefined) return known;
  const reply: Reply = yield { name: zone.text, type: "DNSKEY" };
  const set = findRrset(groupRrsets(reply.answers), zone, "DNSKEY");
  let found: ZoneTrust;
  if (hasAnswer(reply) && (set === undefined || set.signatures.length === 0)) {
    // Nothing below could be told from forgery; a resolver without DNSSEC looks just like this.
    const reason = `The resolver does not pass DNSSEC records on: the DNSKEY records of ${zone.text} came without signatures or not at all`;
    found = { status: "indeterminate", zone, reasons: [reason] };
    report(session, zone, { ds: trust.ds, status: "indeterminate", reason });
  } else found = enter(session, zone, trust, reply);
  session.entered.set(zone.text, found);
  return found;
}

/** Trusts a zone by its DS records or anchors and the answer to its DNSKEY question. */
function enter(session: Session, zone: Name, trust: Trust, reply: Reply): ZoneTrust {
  const { ds } = trust;
  if (!hasAnswer(reply)) {
    const reason = `The DNSKEY records of ${zone.text} could not be had: ${reply.status}`;
    report(session, zone, { ds, status: "indeterminate", reason });
    return { status: "indeterminate", zone, reasons: [reason] };
  }
  const set = findRrset(groupRrsets(reply.answers), zone, "DNSKEY");
  if (set === undefined) {
    const reason = `${zone.text} has DS records but no DNSKEY records (DNSKEY missing)`;
    report(session, zone, { ds, status: "bogus", reason });
    return { status: "bogus", zone, reasons: [reason] };
  }
  const keys = keysOf(set);
  const verified = verifyKeys(session, zone, set, trust);
  if (verified.status !== "secure") {
    const reason = verified.reasons[0] ?? "";
    report(session, zone, { ds, keys, status: verified.status, reason });
    return { status: verified.status, zone, reasons: verified.reasons };
  }
  noteUse(session, verified.signed);
  if (verified.weak)
    session.warnings.add(`The DS records of ${zone.text} are SHA-1 digests only, which RFC 8624 deprecates`);
  report(session, zone, { ds, keys, signed: verified.signed, status: "secure" });
  return { status: "secure", zone, keys };
}

/** Asks whether a zone begins at `child`, one or more labels below a secure zone. */
function* stepDown(session: Session, parent: SecureZone, child: Name): Asking<Step> {
  const key = `${parent.zone.text} ${child.text}`;
  const known = session.steps.get(key);
  if (known !== undefined) return known;
  const reply: Reply = yield { name: child.text, type: "DS" };
  const ds = hasAnswer(reply) ? readDelegation(session, parent, child, reply) : unavailable(session, child, reply);
  const step = "ds" in ds ? yield* enterChild(session, child, ds.ds) : ds;
  session.steps.set(key, step);
  return step;
}

function* enterChild(session: Session, child: Name, ds: readonly Ds[]): Asking<ZoneTrust> {
  const reply: Reply = yield { name: child.text, type: "DNSKEY" };
  return enter(session, child, { ds, keys: [] }, reply);
}

function unavailable(session: Session, child: Name, reply: Reply): Step {
  const reason = `The DS records of ${child.text} could not be had: ${reply.status}`;
  report(session, child, { status: "indeterminate", reason });
  return { status: "indeterminate", zone: child, reasons: [reason] };
}

function readDelegation(
  session: Session,
  parent: SecureZone,
  child: Name,
  reply: Reply,
): Step | { readonly ds: readonly Ds[] } {
  const sets = groupRrsets(reply.answers);
  const set = findRrset(sets, child, "DS");
  if (set !== undefined) {
    const checked = verifyRrset(session, set, parent.zone, parent.keys);
    if (!checked.ok) return bogus(session, child, checked.reasons);
    // A wildcard cannot delegate; what is made from one is data of the parent's.
    if (checked.wildcard !== null)
      return bogus(session, child, [`The DS records of ${child.text} are made from a wildcard`]);
    noteUse(session, checked);
    return { ds: dsOf(set) };
  }
  // An alias cannot stand beside a delegation (RFC 1034 section 3.6.2), nor anything below a DNAME (RFC 6672).
  const alias = findRrset(sets, child, "CNAME");
  const above = sets.find(({ type, owner }) => type === "DNAME" && isBelow(child, owner));
  for (const held of [alias, above])
    if (held !== undefined && stands(session, parent, held)) return { status: "no_cut" };
  const denials = readDenials(session, reply.authority, parent.zone, parent.keys);
  const none = readNoDs(denials, parent.zone, child);
  if (none.kind === "missing") return bogus(session, child, [none.reason, ...denials.faults]);
  for (const signed of denials.signatures) noteUse(session, signed);
  warnOfIterations(session, parent.zone, denials.iterations);
  if (none.kind !== "insecure") return { status: none.kind };
  report(session, child, { status: "insecure", reason: none.reason });
  return { status: "insecure", zone: child, reasons: [none.reason] };
}

function stands(session: Session, { zone, keys }: SecureZone, set: Rrset): boolean {
  const checked = verifyRrset(session, set, zone, keys);
  if (checked.ok) noteUse(session, checked);
  return checked.ok;
}

function bogus(session: Session, child: Name, reasons: readonly string[]): Step {
  report(session, child, { status: "bogus", reason: reasons[0] ?? "" });
  return { status: "bogus", zone: child, reasons };
}

/** RFC 9276 section 3.1: anything but 0 costs all and helps nobody. */
export function warnOfIterations(session: Session, zone: Name, iterations: number): void {
  if (iterations > 0)
    session.warnings.add(`${zone.text} asks for ${iterations} extra NSEC3 iterations; RFC 9276 wants 0`);
}
