import {
  blocksOf,
  blockText,
  ipText,
  readBlock,
  readIp,
  type IpNumber,
} from "#probe-agent/analysis/network/ip-numbers.ts";
import { readWhoisDate } from "#probe-agent/analysis/registry/whois/dates.ts";
import { WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";
import { readWhoisLines, type WhoisEntry } from "#probe-agent/analysis/registry/whois/lines.ts";
import { readVerdict, type WhoisStatement } from "#probe-agent/analysis/registry/whois/verdict.ts";

/** WHOIS data of a registry about a block of addresses or AS numbers. */
export interface NumberRegistration {
  readonly handle: string | null;
  readonly name: string | null;
  readonly type: string | null;
  /** Both ends of the block. Null if the answer is not about addresses. */
  readonly range: { readonly first: string; readonly last: string; readonly cidrs: readonly string[] } | null;
  /** Both ends of the range of AS numbers. Null if the answer is not about one. */
  readonly autnum: { readonly first: number; readonly last: number } | null;
  readonly country: string | null;
  readonly organization: string | null;
  readonly status: readonly string[];
  /** In ISO 8601 UTC. */
  readonly registered_at: string | null;
  readonly changed_at: string | null;
  readonly abuse_email: string | null;
}

/** The parsed answer: the registration that contains the queried resource, and another server to query. */
export interface NumberAnswer {
  readonly registration: NumberRegistration | null;
  readonly statement: WhoisStatement;
  readonly referral: string | null;
}

const MAX_CIDRS = 32;
const RANGE_KEYS: ReadonlySet<string> = new Set(["inetnum", "inet6num", "netrange"]);

/** Parses RPSL objects (RIPE, APNIC, AFRINIC, LACNIC, NIC.br) and ARIN's own format. */
export function parseNumberWhois(text: string, server: string): NumberAnswer {
  const { entries, prose } = readWhoisLines(text.slice(0, 262_144));
  const all = new WhoisFields(entries, server);
  const { at, block } = blockOf(entries);
  const autnum = autnumOf(all);
  const referral = all.referral();
  // Entries above the chosen block are about the larger block that it was taken from.
  const fields = new WhoisFields(entries.slice(at), server);
  if (block === null && autnum === null) return { registration: null, statement: readVerdict(prose), referral };
  const abuse = prose
    .map((line) => /^abuse contact for '[^']{1,100}' is '([^'\s]{3,254})'/i.exec(line)?.[1])
    .find(Boolean);
  const email = fields.first(["orgabuseemail", "abuse mailbox"]) ?? abuse ?? null;
  return {
    registration: {
      handle: fields.first(["nethandle", "ashandle", "inetnum", "inet6num", "aut num"]),
      name: fields.first(["netname", "asname", "as name", "owner"]),
      type: fields.first(["nettype"]),
      range: block,
      autnum,
      country: codeOf(fields.first(["country"])),
      organization: fields.first(["orgname", "org name", "organization", "owner", "descr"]),
      status: fields
        .of(["status"])
        .flatMap(({ values }) => values)
        .slice(0, 4),
      registered_at: dateOf(fields, ["regdate", "created"], server),
      changed_at: dateOf(fields, ["updated", "last modified", "changed"], server),
      abuse_email: email !== null && /^[^\s@<>]{1,64}@[^\s@<>]{1,255}$/.test(email) ? email : null,
    },
    statement: null,
    referral,
  };
}

/** Returns the most specific block and the index of its first entry. Registries print it last (ARIN) or alone. */
function blockOf(entries: readonly WhoisEntry[]): { readonly at: number; readonly block: NumberRegistration["range"] } {
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const { key = "", values = [] } = entries[at] ?? {};
    if (!RANGE_KEYS.has(key)) continue;
    const [first = "", last = ""] = (values[0] ?? "").split(/\s-\s/).map((part) => part.trim());
    const cidr = readBlock(first);
    const [from, to] = cidr === null ? [readIp(first), readIp(last)] : [cidr, lastOf(cidr)];
    if (from === null || to === null) continue;
    const blocks = blocksOf(from, to, MAX_CIDRS);
    // Registries return the whole address space for resources that they do not know.
    if (blocks.length === 0 || blocks[0]?.prefix === 0) continue;
    return { at, block: { first: ipText(from), last: ipText(to), cidrs: blocks.map(blockText) } };
  }
  return { at: 0, block: null };
}

function lastOf(block: IpNumber & { readonly prefix: number }): IpNumber {
  const free = BigInt((block.version === 4 ? 32 : 128) - block.prefix);
  return { version: block.version, value: block.value + (1n << free) - 1n };
}

function autnumOf(fields: WhoisFields): NumberRegistration["autnum"] {
  const stated = fields.first(["aut num", "asnumber"]) ?? "";
  const [, first, last = first] = /^(?:AS)?(\d{1,10})(?:\s*-\s*(?:AS)?(\d{1,10}))?$/i.exec(stated) ?? [];
  return first === undefined ? null : { first: Number(first), last: Number(last) };
}

function dateOf(fields: WhoisFields, keys: readonly string[], server: string): string | null {
  const text = fields.first(keys);
  return text === null ? null : (readWhoisDate(text, server)?.iso ?? null);
}

function codeOf(country: string | null): string | null {
  const code = country?.toUpperCase() ?? "";
  return /^[A-Z]{2}$/.test(code) ? code : null;
}
