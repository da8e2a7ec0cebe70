import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { before, labelsOf, nsec3Label, within, type Zone } from "#test/servers/dnssec/zone.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** What a resolver would say that follows aliases and does not check, all DNSSEC records included. */
export interface TreeReply {
  readonly status: "NOERROR" | "NXDOMAIN" | "YXDOMAIN";
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
}

// 255 octets on the wire: a length octet for each label and the root's take the place of the dots and two more.
const MAX_NAME_CHARACTERS = 253;

interface Node {
  readonly zone: Zone;
  readonly owner: string;
}

/** Answers a question from a tree of zones (RFC 1034 section 4.3.2, RFC 4035 section 3.1, RFC 5155 section 7.2). */
export function answerFrom(zones: readonly Zone[], name: string, type: string): TreeReply {
  const answers: DnsRecord[] = [];
  const authority: DnsRecord[] = [];
  let owner = name.toLowerCase();
  for (let link = 0; link < 10; link += 1) {
    const zone = zoneOf(zones, owner, type);
    const dname = at(zone, null, "DNAME").find(
      (record) => owner !== record.name.toLowerCase() && within(owner, record.name),
    );
    if (dname !== undefined) {
      const target = owner.slice(0, owner.length - dname.name.length) + String(dname.typed["target"]).toLowerCase();
      answers.push(...withSignatures(zone, dname.name, "DNAME"));
      if (target.length > MAX_NAME_CHARACTERS) return { status: "YXDOMAIN", answers, authority };
      // The server makes the CNAME, with the DNAME's TTL and without a signature (RFC 6672 sections 3.1 and 5.3.1).
      answers.push(makeDnsRecord(owner, "CNAME", `${target}.`, dname.ttl));
      if (type === "CNAME") return { status: "NOERROR", answers, authority };
      owner = target;
      continue;
    }
    const found = find(zone, owner);
    if (found.kind === "wildcard") authority.push(...closerDenial(zone, owner, found.encloser));
    const source = found.kind === "wildcard" ? `*.${found.encloser}` : owner;
    const rename = (record: DnsRecord): DnsRecord => ({ ...record, name: owner });
    const wanted = found.kind === "absent" ? [] : withSignatures(zone, source, type).map(rename);
    if (wanted.length > 0) return { status: "NOERROR", answers: [...answers, ...wanted], authority };
    const alias = found.kind === "absent" ? [] : withSignatures(zone, source, "CNAME").map(rename);
    if (alias[0] !== undefined) {
      answers.push(...alias);
      owner = String(alias[0].typed["cname"]).toLowerCase();
      continue;
    }
    const proof = denial(zone, { zone, owner }, found);
    authority.push(...withSignatures(zone, zone.apex, "SOA"), ...proof);
    return { status: found.kind === "absent" ? "NXDOMAIN" : "NOERROR", answers, authority: unique(authority) };
  }
  return { status: "NOERROR", answers, authority };
}

/** The deepest zone a name is in; a zone's own DS is its parent's. */
function zoneOf(zones: readonly Zone[], name: string, type: string): Zone {
  const above = zones.filter(({ apex }) => within(name, apex) && !(type === "DS" && name === apex && name !== "."));
  const [deepest] = above.toSorted((one, other) => labelsOf(other.apex).length - labelsOf(one.apex).length);
  if (deepest === undefined) throw new Error(`no zone for ${name}`);
  return deepest;
}

function at(zone: Zone, owner: string | null, type: string): readonly DnsRecord[] {
  return zone.records.filter(
    (record) => record.type === type && (owner === null || record.name.toLowerCase() === owner.toLowerCase()),
  );
}

/** An RRset and the signatures over it. */
export function withSignatures(zone: Zone, owner: string, type: string): readonly DnsRecord[] {
  const records = at(zone, owner, type);
  if (records.length === 0) return [];
  return [...records, ...at(zone, owner, "RRSIG").filter(({ typed }) => typed["type_covered"] === type)];
}

type Found =
  | { readonly kind: "node" }
  | { readonly kind: "wildcard"; readonly encloser: string }
  | { readonly kind: "absent"; readonly encloser: string };

function find(zone: Zone, name: string): Found {
  if (exists(zone, name)) return { kind: "node" };
  const labels = labelsOf(name).toReversed();
  for (let cut = 1; cut <= labels.length; cut += 1) {
    const encloser = labels.slice(cut).join(".") || ".";
    if (!exists(zone, encloser)) continue;
    return { kind: exists(zone, `*.${encloser}`) ? "wildcard" : "absent", encloser };
  }
  throw new Error(`${name} is not in ${zone.apex}`);
}

/** Records at the name or below it (an empty non-terminal); hashed owners are no names. */
function exists(zone: Zone, name: string): boolean {
  return zone.records.some(
    (record) => record.type !== "NSEC3" && record.typed["type_covered"] !== "NSEC3" && within(record.name, name),
  );
}

function denial(zone: Zone, { owner }: Node, found: Found): readonly DnsRecord[] {
  const hashed = at(zone, null, "NSEC3").length > 0;
  if (found.kind === "node")
    return hashed ? [...matching3(zone, owner), ...missing3(zone, owner)] : nsecFor(zone, owner);
  const wildcard = `*.${found.encloser === "." ? "" : found.encloser}`.replace(/\.$/, "");
  if (!hashed) return [...nsecFor(zone, owner), ...nsecFor(zone, wildcard)];
  const closer = [...matching3(zone, found.encloser), ...covering3(zone, nextCloser(owner, found.encloser))];
  return [...closer, ...(found.kind === "wildcard" ? matching3(zone, wildcard) : covering3(zone, wildcard))];
}

function closerDenial(zone: Zone, name: string, encloser: string): readonly DnsRecord[] {
  if (at(zone, null, "NSEC3").length > 0) return covering3(zone, nextCloser(name, encloser));
  return nsecFor(zone, name);
}

function nextCloser(name: string, encloser: string): string {
  const labels = labelsOf(name).slice(0, labelsOf(encloser).length + 1);
  return labels.toReversed().join(".");
}

/** Returns the NSEC record of a name, or the one whose gap contains it. */
export function nsecFor(zone: Zone, name: string): readonly DnsRecord[] {
  const owners = at(zone, null, "NSEC").map((record) => record.name);
  const same = owners.find((owner) => owner.toLowerCase() === name.toLowerCase());
  const last = owners.filter((owner) => before(owner, name)).toSorted((one, other) => (before(one, other) ? 1 : -1))[0];
  return withSignatures(zone, same ?? last ?? "", "NSEC");
}

function parameters(zone: Zone): { iterations: number; salt: string } {
  const typed = at(zone, null, "NSEC3")[0]?.typed ?? {};
  return { iterations: Number(typed["iterations"]), salt: String(typed["salt"]) };
}

function hashedOwner(zone: Zone, name: string): string {
  const { iterations, salt } = parameters(zone);
  return `${nsec3Label(name, iterations, salt)}${zone.apex === "." ? "" : `.${zone.apex}`}`;
}

/** The NSEC3 of a name itself. */
export function matching3(zone: Zone, name: string): readonly DnsRecord[] {
  return withSignatures(zone, hashedOwner(zone, name), "NSEC3");
}

/** Opt-out: a delegation without an NSEC3 of its own is denied by closest encloser and gap. */
function missing3(zone: Zone, name: string): readonly DnsRecord[] {
  if (matching3(zone, name).length > 0) return [];
  const labels = labelsOf(name);
  for (let count = labels.length - 1; count >= 0; count -= 1) {
    const above = labels.slice(0, count).toReversed().join(".") || ".";
    const match = matching3(zone, above);
    if (match.length > 0) return [...match, ...covering3(zone, nextCloser(name, above))];
  }
  return [];
}

/** Returns the NSEC3 record whose gap contains a name's hash. */
export function covering3(zone: Zone, name: string): readonly DnsRecord[] {
  const target = hashedOwner(zone, name);
  const owners = at(zone, null, "NSEC3")
    .map((record) => record.name.toLowerCase())
    .toSorted();
  const last = owners.findLast((owner) => owner < target) ?? owners.at(-1);
  return withSignatures(zone, last ?? "", "NSEC3");
}

function unique(records: readonly DnsRecord[]): readonly DnsRecord[] {
  const seen = new Map(records.map((record) => [`${record.name} ${record.type} ${record.data}`, record]));
  return [...seen.values()];
}
