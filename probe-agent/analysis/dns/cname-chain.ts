import { appendTo } from "#probe-agent/analysis/text/multi-map.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

const CLASS_IN = 1;
// Resolvers stop earlier (unbound at 12). Nobody builds longer chains on purpose.
const MAX_LINKS = 32;

/** An answer section, read as a chain of aliases from the queried name to the wanted records. */
interface CnameChain {
  /** Alias targets in order. Empty if the queried name itself has the records. */
  readonly targets: readonly string[];
  /** Records of the queried type at the end of the chain. */
  readonly records: readonly DnsRecord[];
  /** Whether the chain returns to a name it has already passed, or is longer than 32 links. */
  readonly loop: boolean;
}

/** Follows the CNAMEs of an answer section from `name` (RFC 1034 section 3.6.2). Ignores records of other owners. */
export function followCnames(name: string, type: string, answers: readonly DnsRecord[]): CnameChain {
  const wanted = new Map<string, DnsRecord[]>();
  const aliases = new Map<string, string>();
  for (const record of answers) {
    if (record.class !== CLASS_IN) continue;
    const owner = record.name.toLowerCase();
    const target = record.typed["cname"];
    if (record.type === type) appendTo(wanted, owner, record);
    else if (record.type === "CNAME" && typeof target === "string") aliases.set(owner, target);
  }
  const targets: string[] = [];
  const passed = new Set<string>();
  let owner = name === "." ? name : name.replace(/\.$/, "").toLowerCase();
  for (;;) {
    const records = wanted.get(owner);
    if (records !== undefined) return { targets, records, loop: false };
    const target = aliases.get(owner);
    if (target === undefined) return { targets, records: [], loop: false };
    passed.add(owner);
    targets.push(target);
    owner = target.toLowerCase();
    if (passed.has(owner) || targets.length >= MAX_LINKS) return { targets, records: [], loop: true };
  }
}
