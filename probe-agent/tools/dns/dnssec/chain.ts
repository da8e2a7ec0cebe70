import { hasAnswer } from "#probe-agent/tools/dns/dnssec-resolver.ts";
import { readDsRecords, readKeys, verifyKeys, type Ds, type Trust } from "#probe-agent/tools/dns/dnssec/delegations.ts";
import { readDenials, type Denials } from "#probe-agent/tools/dns/dnssec/denial.ts";
import type { ZoneKey } from "#probe-agent/tools/dns/dnssec/keys.ts";
import { ancestor, closestAbove, isBelow, ROOT_NAME, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { readNoDs } from "#probe-agent/tools/dns/dnssec/proofs.ts";
import { findRrset, groupRrsets, type Rrset } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import {
  noteUse,
  report,
  type Asking,
  type Reply,
  type Session,
  type Step,
  type ZoneTrust,
} from "#probe-agent/tools/dns/dnssec/session.ts";
import { verifyRrset } from "#probe-agent/tools/dns/dnssec/signatures.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** A zone with trusted keys. */
export interface SecureZone {
  readonly zone: Name;
  readonly keys: readonly ZoneKey[];
}

/** Returns the zone of the closest trust anchor at or above a name, or null if there is none. */
export function closestAnchor(session: Session, name: Name): Name | null {
  const zones = [...session.anchors.values()].map(({ zone }) => zone);
  return closestAbove(name, zones);
}

/**
 * Follows the chain of trust (RFC 4035 section 5) from the closest trust anchor down to the zone of `target`. Asks for
 * DS records label by label: a zone counts as unsigned only if its parent proves it. `records` are records that came with
 * the answer. They can be that proof if the DS question is not answered.
 */
export function* findZone(session: Session, target: Name, records: readonly DnsRecord[] = []): Asking<ZoneTrust> {
  const start = closestAnchor(session, target);
  const anchor = start === null ? undefined : session.anchors.get(start.text);
  if (anchor === undefined) {
    return { status: "indeterminate", zone: target, reasons: [`No trust anchor is at or above ${target.text}`] };
  }
  let trust = yield* enterAnchor(session, anchor.zone, anchor.trust);
  for (let count = anchor.zone.labels.length + 1; count <= target.labels.length; count += 1) {
    if (trust.status !== "secure") return trust;
    const step = yield* stepDown(session, trust, ancestor(target, count), records);
    if (step.status === "absent") return trust;
    if (step.status !== "no_cut") trust = step;
  }
  return trust;
}

function* enterAnchor(session: Session, zone: Name, trust: Trust): Asking<ZoneTrust> {
  const known = session.entered.get(zone.text);
  if (known !== undefined) return known;
  const reply: Reply = yield { name: zone.text, type: "DNSKEY" };
  const stripped = hasAnswer(reply) && !hasSignedKeys(reply, zone);
  const found =
    stripped && !(yield* passesSignatures(zone))
      ? reportStrippedSignatures(session, zone, trust)
      : enterZone(session, zone, trust, reply);
  session.entered.set(zone.text, found);
  return found;
}

function hasSignedKeys(reply: Reply, zone: Name): boolean {
  const set = findRrset(groupRrsets(reply.answers), zone, "DNSKEY");
  return set !== undefined && set.signatures.length > 0;
}

/**
 * Reports whether the resolver passes DNSSEC records on at all. The root is signed, so the reply for its keys shows
 * this.
 */
function* passesSignatures(zone: Name): Asking<boolean> {
  if (zone.labels.length === 0) return false;
  const reply: Reply = yield { name: ROOT_NAME.text, type: "DNSKEY" };
  return hasAnswer(reply) && hasSignedKeys(reply, ROOT_NAME);
}

/**
 * Returns an indeterminate result for an anchor's zone whose signatures the resolver strips. Answers below that anchor
 * would look forged, although the resolver may only lack DNSSEC support.
 */
function reportStrippedSignatures(session: Session, zone: Name, { ds }: Trust): ZoneTrust {
  const reason = `The resolver does not pass DNSSEC records on: the DNSKEY records of ${zone.text} came without signatures or not at all`;
  report(session, zone, { ds, status: "indeterminate", reason });
  return { status: "indeterminate", zone, reasons: [reason] };
}

/** Checks a zone's reply to its DNSKEY question against its DS records or trust anchors. */
function enterZone(session: Session, zone: Name, trust: Trust, reply: Reply): ZoneTrust {
  const { ds } = trust;
  if (!hasAnswer(reply)) {
    const reason = `The DNSKEY records of ${zone.text} are not available: ${reply.status}`;
    report(session, zone, { ds, status: "indeterminate", reason });
    return { status: "indeterminate", zone, reasons: [reason] };
  }
  const set = findRrset(groupRrsets(reply.answers), zone, "DNSKEY");
  if (set === undefined) {
    const reason = `${zone.text} has ${trust.anchored ? "a trust anchor" : "DS records"} but no DNSKEY records (DNSKEY missing)`;
    report(session, zone, { ds, status: "bogus", reason });
    return { status: "bogus", zone, reasons: [reason] };
  }
  const keys = readKeys(set);
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

/**
 * Searches a secure zone's own denial records for an unsigned delegation between that zone and a name below it (RFC
 * 4035 section 5.2, RFC 5155 section 8.9). Stores what it finds in the session. Returns null if the records show none.
 */
export function findUnsignedCut(
  session: Session,
  parent: SecureZone,
  denials: Denials,
  name: Name,
): Extract<ZoneTrust, { readonly reasons: unknown }> | null {
  for (let count = parent.zone.labels.length + 1; count <= name.labels.length; count += 1) {
    const child = ancestor(name, count);
    const none = readNoDs(denials, parent.zone, child);
    if (none.kind === "insecure") {
      const step = markUnsigned(session, parent, denials, child, none.reason);
      session.steps.set(`${parent.zone.text} ${child.text}`, step);
      return step;
    }
  }
  return null;
}

/** Checks whether a zone begins at `child`, one or more labels below a secure zone. */
function* stepDown(session: Session, parent: SecureZone, child: Name, records: readonly DnsRecord[]): Asking<Step> {
  const key = `${parent.zone.text} ${child.text}`;
  const known = session.steps.get(key);
  if (known !== undefined) return known;
  const reply: Reply = yield { name: child.text, type: "DS" };
  if (!hasAnswer(reply)) {
    const denials = readDenials(session, records, parent.zone, parent.keys);
    return findUnsignedCut(session, parent, denials, child) ?? markUnavailable(session, child, reply);
  }
  const ds = readDelegation(session, parent, child, reply);
  const step = "ds" in ds ? yield* enterChild(session, child, ds.ds) : ds;
  session.steps.set(key, step);
  return step;
}

function* enterChild(session: Session, child: Name, ds: readonly Ds[]): Asking<ZoneTrust> {
  const reply: Reply = yield { name: child.text, type: "DNSKEY" };
  return enterZone(session, child, { ds, keys: [], anchored: false }, reply);
}

function markUnavailable(session: Session, child: Name, reply: Reply): Step {
  const reason = `The DS records of ${child.text} are not available: ${reply.status}`;
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
    if (!checked.ok) return markBogus(session, child, checked.reasons);
    // A wildcard cannot delegate. Records that are expanded from one are the parent's data.
    if (checked.wildcard !== null)
      return markBogus(session, child, [`The DS records of ${child.text} are expanded from a wildcard`]);
    noteUse(session, checked);
    return { ds: readDsRecords(set) };
  }
  // An alias cannot exist at the same name as a delegation (RFC 1034 section 3.6.2), and nothing exists below a DNAME
  // (RFC 6672).
  const alias = findRrset(sets, child, "CNAME");
  const above = sets.find(({ type, owner }) => type === "DNAME" && isBelow(child, owner));
  for (const held of [alias, above])
    if (held !== undefined && isVerified(session, parent, held)) return { status: "no_cut" };
  const denials = readDenials(session, reply.authority, parent.zone, parent.keys);
  const none = readNoDs(denials, parent.zone, child);
  if (none.kind === "missing") return markBogus(session, child, [none.reason, ...denials.faults]);
  if (none.kind === "insecure") {
    const step = markUnsigned(session, parent, denials, child, none.reason);
    return { ...step, denied: reply.status === "NXDOMAIN" };
  }
  noteProof(session, parent, denials);
  return { status: none.kind };
}

function markUnsigned(session: Session, parent: SecureZone, denials: Denials, child: Name, reason: string) {
  noteProof(session, parent, denials);
  report(session, child, { status: "insecure", reason });
  return { status: "insecure", zone: child, reasons: [reason] } as const;
}

function noteProof(session: Session, { zone }: SecureZone, denials: Denials): void {
  for (const signed of denials.signatures) noteUse(session, signed);
  warnOfIterations(session, zone, denials.iterations);
}

function isVerified(session: Session, { zone, keys }: SecureZone, set: Rrset): boolean {
  const checked = verifyRrset(session, set, zone, keys);
  if (checked.ok) noteUse(session, checked);
  return checked.ok;
}

function markBogus(session: Session, child: Name, reasons: readonly string[]): Step {
  report(session, child, { status: "bogus", reason: reasons[0] ?? "" });
  return { status: "bogus", zone: child, reasons };
}

/**
 * Adds a warning for extra NSEC3 iterations. RFC 9276 section 3.1: any value but 0 costs everyone work without a
 * benefit.
 */
export function warnOfIterations(session: Session, zone: Name, iterations: number): void {
  if (iterations > 0)
    session.warnings.add(`${zone.text} asks for ${iterations} extra NSEC3 iterations; RFC 9276 requires 0`);
}
