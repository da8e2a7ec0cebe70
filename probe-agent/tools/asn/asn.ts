import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import { asn as contract } from "#shared/tools/asn/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";
import { asNumberUse, asdot } from "#probe-agent/tools/asn/as-number-use.ts";
import { blockText, readBlock } from "#probe-agent/analysis/network/ip-numbers.ts";
import { readResource } from "#probe-agent/analysis/network/number-resource.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { askCymru, askCymruAs } from "#probe-agent/sources/cymru.ts";
import { askRegistry } from "#probe-agent/sources/rdap.ts";
import type { ServiceSource } from "#probe-agent/sources/service-source.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import type { AsRecord, Origin } from "#probe-agent/analysis/registry/cymru.ts";
import type { NetworkOwner } from "#probe-agent/analysis/registry/geo.ts";
import type { RdapAutnum } from "#probe-agent/analysis/registry/rdap/autnum.ts";
import { autnumRow } from "#probe-agent/analysis/registry/rdap/rows.ts";

type Result = Untimed<ResultOf<typeof contract>>;

/** Data of all sources. Null means that the source was not asked, did not answer, or knows nothing. */
interface AsnEvidence {
  readonly host: string | null;
  readonly ip: string | null;
  readonly asn: number | null;
  readonly origin: Origin | null;
  readonly system: AsRecord | null;
  readonly owner: NetworkOwner | null;
  /** Block from the operator's database, in CIDR form. */
  readonly ownerBlock: string | null;
  readonly database: Result["database"];
  readonly autnum: (RdapAutnum & { readonly url: string }) | null;
  /** The source that states that nobody announces the address or holds the number. Null if none does. */
  readonly deniedBy: "cymru" | "rdap" | null;
  readonly limitations: readonly string[];
}

/** Evidence before any source was asked. */
const NOTHING_KNOWN: AsnEvidence = {
  host: null,
  ip: null,
  asn: null,
  origin: null,
  system: null,
  owner: null,
  ownerBlock: null,
  database: null,
  autnum: null,
  deniedBy: null,
  limitations: [],
};

/**
 * Reports whether no source that could know gave an answer. An internal address and a special-use number are described
 * by the special-purpose registries, so something is known. A statement that there is nothing to know counts as an
 * answer too.
 */
function knowsNothing({ asn: number, ip, system, autnum, origin, owner, deniedBy }: AsnEvidence): boolean {
  if (deniedBy !== null) return false;
  if (ip !== null && !["public", "anycast"].includes(addressType(ip))) return false;
  if (number !== null && asNumberUse(number).use !== "public") return false;
  return system === null && autnum === null && origin === null && (owner?.asn ?? null) === null;
}

/**
 * Builds the result from the evidence. Routing data and the registry take precedence over the database, which can be
 * older.
 */
function asnReport(evidence: AsnEvidence): Omit<Result, "query" | "observed_at"> {
  const { host, ip, asn: number, origin, system, owner, database, autnum } = evidence;
  const special = number === null ? null : asNumberUse(number);
  const isPublic = special?.use === "public";
  return {
    host,
    ip,
    asn: number,
    asdot: number === null ? null : asdot(number),
    use: special?.use ?? null,
    origins: [...(origin?.asns ?? [])],
    name: system?.name ?? autnum?.name ?? null,
    org: autnum?.organization ?? owner?.as_name ?? owner?.organization ?? system?.holder ?? special?.name ?? null,
    country: system?.country ?? autnum?.country ?? null,
    registry: system?.registry ?? registryOf(autnum?.port43 ?? null) ?? origin?.registry ?? null,
    allocated: system?.allocated ?? autnum?.registered_at?.slice(0, 10) ?? null,
    prefix: origin?.prefix ?? evidence.ownerBlock,
    prefixes: { ipv4: null, ipv6: null },
    peers: null,
    upstreams: null,
    abuse: autnum?.abuse_email ?? null,
    rdap: autnum === null ? null : autnumRow(autnum, autnum.url),
    database: database && { ...database },
    source: [
      ...(owner === null ? [] : ["asn_db"]),
      ...(origin === null && system === null && evidence.deniedBy !== "cymru" ? [] : ["cymru"]),
      ...(autnum === null && evidence.deniedBy !== "rdap" ? [] : ["rdap"]),
      ...(special === null || isPublic ? [] : ["iana"]),
    ],
    limitations: [
      ...evidence.limitations,
      ...(isPublic ? ["Prefix counts, peers and upstreams are not known: this probe has no source for them."] : []),
    ],
  };
}

/** Returns Team Cymru's name of the registry whose WHOIS host this is, e.g. "ripencc" for whois.ripe.net. */
function registryOf(port43: string | null): string | null {
  const [, name] = /^whois\.(afrinic|apnic|arin|lacnic|ripe)\.net$/i.exec(port43 ?? "") ?? [];
  return name === undefined ? null : name.toLowerCase().replace("ripe", "ripencc");
}

/** Time kept for sending the answer back after the sources have used their time, in milliseconds. */
const RESERVE_MS = 500;
/** Part of the deadline for routing data, in milliseconds. The rest is for the registry. */
const ROUTING_MS = 5_000;

/**
 * Looks up an AS number: the operator's database, then Team Cymru's view of routing, then the registry of the number.
 */
export const asn = implement(contract, async (net, { query }): Promise<Outcome<Result>> => {
  const observedAt = net.now().toISOString();
  const resource = readResource(query);
  if (resource === null)
    return { status: "invalid", field: "query", message: "must be an AS number, an IP address or a host name" };
  let gathered: Gathered;
  if (resource.kind === "autnum") gathered = await aboutNumber(net, resource.asn);
  else {
    const resolved = await net.dns.resolve(resource.kind === "ip" ? resource.ip : resource.name);
    if (resolved.status !== "ok") return resolved;
    const [address] = resolved.data.allowed;
    if (address === undefined) throw new Error("resolved to no allowed address");
    const several = resolved.data.allowed.length > 1;
    const found = await aboutAddress(net, address.ip);
    gathered = {
      ...found,
      host: resource.kind === "ip" ? null : resolved.data.host,
      limitations: [
        ...found.limitations,
        ...(several ? ["The host has several addresses; only the first one was examined."] : []),
      ],
    };
  }
  const { failed: source, ...evidence } = gathered;
  if (knowsNothing(evidence)) {
    const message = `no source identifies the network: ${evidence.limitations.join(" ")}`.slice(0, 1000);
    return failed("response", source ?? "service", "source_unavailable", message);
  }
  return ok({
    query,
    ...asnReport(evidence),
    observed_at: observedAt,
  });
});

/** The evidence, and who failed if the registry did not answer. */
type Gathered = AsnEvidence & { readonly failed: ServiceSource | null };

async function aboutNumber(net: Net, number: number): Promise<Gathered> {
  // Outside services should not learn about a number that is not registered to anyone.
  if (asNumberUse(number).use !== "public") return { ...NOTHING_KNOWN, failed: null, asn: number };
  const patience = net.remainingMs() - RESERVE_MS;
  const [system, registered] = await Promise.all([
    waitAtMost(Math.min(ROUTING_MS, patience), askCymruAs(net, number), null),
    waitAtMost(patience, askAutnum(net, number), LATE),
  ]);
  return {
    ...NOTHING_KNOWN,
    failed: registered.failed,
    asn: number,
    system,
    autnum: registered.autnum,
    deniedBy: registered.isNobodys ? "rdap" : null,
    limitations: [
      ...(system === null ? ["Team Cymru's DNS zones do not have the number, or did not answer."] : []),
      ...registered.limitations,
    ],
  };
}

async function aboutAddress(net: Net, ip: string): Promise<Gathered> {
  const type = addressType(ip);
  if (type !== "public" && type !== "anycast") {
    const what = `A ${type.replace("_", "-")} address: no network announces it to the internet.`;
    return { ...NOTHING_KNOWN, failed: null, ip, limitations: [what] };
  }
  const known = net.data.asn(ip);
  const patience = net.remainingMs() - RESERVE_MS;
  const routing = waitAtMost(Math.min(ROUTING_MS, patience), askCymru(net, ip), null);
  const first = known?.owner?.asn ?? null;
  // The database knows the number immediately. Without it, the registry can be asked only after routing data return the
  // number.
  const [cymru, early] = await Promise.all([
    routing,
    first === null ? null : waitAtMost(patience, askAutnum(net, first), LATE),
  ]);
  const number = first ?? cymru?.origin?.asns[0] ?? null;
  const registered =
    early ??
    (number === null || asNumberUse(number).use !== "public"
      ? NOT_ASKED
      : await waitAtMost(net.remainingMs() - RESERVE_MS, askAutnum(net, number), LATE));
  const origin = cymru?.origin ?? null;
  const differs = first !== null && origin !== null && !origin.asns.includes(first);
  return {
    ...NOTHING_KNOWN,
    failed: registered.failed,
    ip,
    asn: number,
    origin,
    // The name from routing data is used only if it belongs to this number.
    system: cymru?.system?.asn === number ? cymru.system : null,
    owner: known?.owner ?? null,
    ownerBlock: known?.prefix == null ? null : blockOf(ip, known.prefix),
    database: known?.database ?? null,
    autnum: registered.autnum,
    deniedBy: cymru?.answered === true && origin === null && first === null ? "cymru" : null,
    limitations: [
      ...(cymru?.answered === true ? [] : ["Team Cymru's DNS zones did not answer."]),
      ...(cymru?.answered === true && origin === null ? ["No prefix in global routing contains the address."] : []),
      ...(differs ? [`Routing data name AS${origin.asns.join(", AS")} in place of the database's AS${first}.`] : []),
      ...((origin?.asns.length ?? 0) > 1 ? ["Several networks announce the prefix; asn is the first of them."] : []),
      ...registered.limitations,
    ],
  };
}

interface Registered {
  readonly autnum: AsnEvidence["autnum"];
  /** Who failed. Null if the registry answered or was not asked. */
  readonly failed: ServiceSource | null;
  /** Whether the registry says that the number was given to nobody. */
  readonly isNobodys: boolean;
  readonly limitations: readonly string[];
}

const LATE: Registered = {
  autnum: null,
  failed: "service",
  isNobodys: false,
  limitations: ["RDAP: the registry did not answer in time."],
};
const NOT_ASKED: Registered = { autnum: null, failed: null, isNobodys: false, limitations: [] };

async function askAutnum(net: Net, number: number): Promise<Registered> {
  const no = (limitation: string, isNobodys = false, by: ServiceSource | null = null): Registered => ({
    autnum: null,
    failed: by,
    isNobodys,
    limitations: [limitation],
  });
  const reply = await askRegistry(net, { kind: "autnum", asn: number });
  switch (reply.status) {
    case "no_registry":
      return no("RDAP: this number is not assigned to any registry.", true);
    case "absent":
      return no("RDAP: the registry has not assigned the number to anyone.", true);
    case "failed":
      return no(`RDAP: the registry returned no registration (${reply.reason}).`, false, reply.source);
    default: {
      const autnum = reply.finding;
      return autnum === null
        ? no("RDAP: the registry's answer is not a registration of this number.")
        : { autnum: { ...autnum, url: reply.url }, failed: null, isNobodys: false, limitations: [] };
    }
  }
}

function blockOf(ip: string, prefix: number): string | null {
  const block = readBlock(`${ip}/${prefix}`);
  return block === null ? null : blockText(block);
}
