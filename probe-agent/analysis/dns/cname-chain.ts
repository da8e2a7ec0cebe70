import type { DnsRecord } from "#probe-agent/port/dns.ts";

const CLASS_IN = 1;
// Resolvers stop sooner (unbound at 12); longer chains are nobody's intention.
const MAX_LINKS = 32;

/** An answer section read as a chain of aliases that leads from the name asked for to the records wanted. */
interface CnameChain {
  /** Alias targets in order; empty where the name itself has the records. */
  readonly targets: readonly string[];
  /** Records of the type asked for, at the chain's end. */
  readonly records: readonly DnsRecord[];
  /** The chain leads back to a name it has passed. */
  readonly loop: boolean;
}

/** Follows the CNAMEs of an answer section (RFC 1034 section 3.6.2) from `name`; other owners' records are left out. */
export function followCnames(name: string, type: string, answers: readonly DnsRecord[]): CnameChain {
  const wanted = new Map<string, DnsRecord[]>();
  const aliases = new Map<string, string>();
  for (const record of answers) {
    if (record.class !== CLASS_IN) continue;
    const owner = record.name.toLowerCase();
    const target = record.typed["cname"];
    if (record.type === type) {
      const same = wanted.get(owner);
      if (same === undefined) wanted.set(owner, [record]);
      else same.push(record);
    } else if (record.type === "CNAME" && typeof target === "string") aliases.set(owner, target);
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
