import { literalFamily } from "#shared/egress/addresses.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { certifiedName, nameAndParents, type CaaRow } from "#probe-agent/analysis/tls/ssl/caa.ts";
import type { CaaSeen, NamesFacts } from "#probe-agent/analysis/tls/ssl/names.ts";
import type { ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { createLookUp } from "#probe-agent/sources/dns-look-up.ts";
import { lookUpTlsa, type TlsaAnswer } from "#probe-agent/tools/dns/tlsa.ts";

/** Time limit for DNS answers and their validation. */
const LOOK_UP_MS = 8000;
const LATE: TlsaAnswer = { status: "unknown", reason: "the TLSA records could not be validated in time", records: [] };
const LATE_CAA: CaaSeen = { rows: null, why: "no answer in time" };

/** Looks up TLSA records of the port and CAA records of the name. Returns null for an address. */
export async function lookUpNames(
  net: Net,
  { host, port }: { readonly host: string; readonly port: number },
  { leaf }: ServerChain,
  reserveMs: number,
): Promise<NamesFacts | null> {
  if (literalFamily(host) !== null) return null;
  const limitMs = Math.max(0, Math.min(LOOK_UP_MS, net.remainingMs() - reserveMs));
  const { name, wildcard } = certifiedName(host, leaf);
  const [tlsa, caa] = await Promise.all([
    waitAtMost(limitMs, lookUpTlsa(net, host, port), LATE),
    waitAtMost(limitMs, lookUpCaa(net, name), LATE_CAA),
  ]);
  return { tlsa, caa, wildcard };
}

/** Returns the nearest records at or above the name (RFC 8659 section 3). All levels are asked in parallel. */
async function lookUpCaa(net: Net, name: string): Promise<CaaSeen> {
  const lookUp = createLookUp(net);
  const levels = nameAndParents(name);
  const found = await Promise.all(levels.map((level) => lookUp(level, "CAA")));
  for (const [index, { state, status, records }] of found.entries()) {
    const level = levels[index] ?? name;
    if (state === "unknown") return { rows: null, why: `${level}: ${status}` };
    if (state === "records") return { rows: records.map((record) => toRow(level, record)), why: null };
  }
  return { rows: [], why: null };
}

function toRow(name: string, { typed }: DnsRecord): CaaRow {
  const textOf = (field: string): string => (typeof typed[field] === "string" ? typed[field] : "");
  return { name, critical: typed["critical"] === true, tag: textOf("tag").toLowerCase(), value: textOf("value") };
}
