import { encodeMessage, type RecordToSend } from "#probe-agent/dns-codec/question.ts";
import { parseRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import { CLASS_IN } from "#shared/internet/dns-registry.ts";

/**
 * Records by absolute name (lower case, no final dot) and type, in presentation form: `{"www.example.test": {A:
 * ["192.0.2.1"], MX: ["10 mail.example.test."]}}`. A name with an SOA begins a zone; `*.` labels are wildcards.
 */
export type Zones = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** What the zones say to a question. */
export interface ZoneAnswer {
  readonly status: "NOERROR" | "NXDOMAIN" | "YXDOMAIN" | "SERVFAIL";
  readonly answers: readonly RecordToSend[];
  readonly authority: readonly RecordToSend[];
}

const TTL = 300;
const MAX_CHAIN = 12;

/** Looks a question up as a recursive resolver would: CNAMEs followed within the zones, the SOA where nothing is. */
export function lookUp(zones: Zones, name: string, type: string, dnssecOk: boolean): ZoneAnswer {
  const answers: RecordToSend[] = [];
  let owner = name;
  for (let length = 0; length < MAX_CHAIN; length += 1) {
    const found = nodeOf(zones, owner);
    if (found === null) return { status: "NXDOMAIN", answers, authority: soaAbove(zones, owner) };
    const wanted = recordsOf(owner, found, type, dnssecOk);
    if (wanted.length > 0) return { status: "NOERROR", answers: [...answers, ...wanted], authority: [] };
    const target = found["CNAME"]?.[0];
    if (target === undefined) return { status: "NOERROR", answers, authority: soaAbove(zones, owner) };
    answers.push(...recordsOf(owner, found, "CNAME", dnssecOk));
    owner = target.replace(/\.$/, "").toLowerCase();
  }
  return { status: "NOERROR", answers, authority: [] };
}

function nodeOf(zones: Zones, name: string): Zones[string] | null {
  const key = name.toLowerCase();
  if (zones[key] !== undefined) return zones[key];
  // An empty non-terminal exists though it has no records (RFC 8020).
  if (Object.keys(zones).some((other) => other.endsWith(`.${key}`))) return {};
  const labels = key.split(".");
  for (let cut = 1; cut < labels.length; cut += 1) {
    const above = labels.slice(cut).join(".");
    const wildcard = zones[`*.${above}`];
    if (wildcard !== undefined) return wildcard;
    if (zones[above] !== undefined) return null;
  }
  return null;
}

function recordsOf(owner: string, node: Zones[string], type: string, dnssecOk: boolean): RecordToSend[] {
  const records = (node[type] ?? []).map((data) => makeRecord(owner, type, data));
  if (records.length === 0 || !dnssecOk || type === "RRSIG") return records;
  const signatures = (node["RRSIG"] ?? []).filter((data) => data.startsWith(`${type} `));
  return [...records, ...signatures.map((data) => makeRecord(owner, "RRSIG", data))];
}

function soaAbove(zones: Zones, name: string): RecordToSend[] {
  const labels = name.toLowerCase().split(".");
  for (let cut = 0; cut < labels.length; cut += 1) {
    const apex = labels.slice(cut).join(".");
    const soa = zones[apex]?.["SOA"]?.[0];
    if (soa !== undefined) return [makeRecord(apex, "SOA", soa)];
  }
  return [];
}

/** One IN record with TTL 300 from presentation form. */
export function makeRecord(name: string, type: string, data: string, ttl = TTL): RecordToSend {
  return { name, type, class: CLASS_IN, ttl, raw: parseRdata(type, data) };
}

/** Header of a message whose ANCOUNT claims one record, followed by a name that points at itself. */
export function compressionLoop(reply: Uint8Array): Uint8Array {
  return withAnswerOctets(reply, (offset) => [0xc0 | (offset >>> 8), offset & 0xff, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** The right header and question, an answer count of 40 and no records. */
export function lyingCounts(reply: Uint8Array): Uint8Array {
  const head = withAnswerOctets(reply, () => []);
  head[7] = 40;
  return head;
}

/** The right header and question, then octets that are no record. */
export function garbage(reply: Uint8Array): Uint8Array {
  return withAnswerOctets(reply, () => Array.from({ length: 64 }, (_, index) => (index * 151 + 7) & 0xff));
}

/** One NS record whose owner and target are pointers to the question, as compressing servers send it. */
export function pointingToQuestion(reply: Uint8Array): Uint8Array {
  return withAnswerOctets(reply, () => [0xc0, 12, 0, 2, 0, 1, 0, 0, 0, 9, 0, 2, 0xc0, 12]);
}

/** Id and question kept, one claimed answer that consists of `octets`. */
function withAnswerOctets(reply: Uint8Array, octets: (offset: number) => readonly number[]): Uint8Array {
  let end = 12;
  while ((reply[end] ?? 0) !== 0) end += (reply[end] ?? 0) + 1;
  end += 5;
  const header = encodeMessage({ id: 0, response: true }).subarray(2);
  const message = Uint8Array.of(...reply.subarray(0, 2), ...header, ...reply.subarray(12, end), ...octets(end));
  message[3] = 0x80;
  message[5] = 1;
  message[7] = 1;
  return message;
}
