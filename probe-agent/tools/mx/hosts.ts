import { isIP } from "node:net";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";
import type { AddressFacts, HostFacts, Routing } from "#probe-agent/analysis/mail/domain/exchangers.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { askCymru } from "#probe-agent/sources/cymru.ts";
import { fieldsOf, type Found, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { lookUpReverseName } from "#probe-agent/sources/reverse-name.ts";

/** Maximum number of mail hosts. */
const MAX_HOSTS = 20;
/** Maximum number of addresses of one host. */
const MAX_ADDRESSES = 8;
/** Maximum number of addresses, over all hosts, whose reverse names and networks are looked up. */
const MAX_DETAILED = 24;
/** Time reserved for the result after the lookups of reverse names and networks, in milliseconds. */
const RESERVE_MS = 700;

const UNASKED = { ptr: null, has_ptr: null, fcrdns: null, asn: null } as const;

/** Finds the mail hosts of a domain and their addresses, without reverse names and networks. */
export async function findHosts(lookUp: LookUp, domain: string): Promise<Routing> {
  const found = await lookUp(domain, "MX");
  const status = found.answer === null ? found.status : found.answer.status;
  const unknown = { status, nullMx: null, implicitMx: null, hosts: [], total: 0 };
  if (found.state === "unknown") return unknown;
  if (found.state === "absent") return { ...unknown, nullMx: false, implicitMx: false };
  if (found.state === "none") {
    const own = await findAddresses(lookUp, domain, { priority: 0, host: domain, ttl: null });
    const implicit = own.addresses.length > 0;
    // If the domain itself is an alias, the MX lookup follows it. That is not a fault of a mail host.
    const hosts = implicit ? [{ ...own, isAlias: null }] : [];
    return { status, nullMx: false, implicitMx: implicit || own.complete ? implicit : null, hosts, total: 0 };
  }
  const records = found.records
    .map(({ ttl, typed }) => ({ ttl, priority: Number(typed["preference"]), host: String(typed["exchange"]) }))
    .toSorted((one, other) => one.priority - other.priority || (one.host < other.host ? -1 : 1));
  const hosts = await Promise.all(
    records.slice(0, MAX_HOSTS).map((record) => findAddresses(lookUp, record.host, record)),
  );
  return {
    status,
    nullMx: records.length === 1 && records[0]?.host === ".",
    implicitMx: false,
    hosts,
    total: records.length,
  };
}

type Named = Pick<HostFacts, "priority" | "host" | "ttl">;

async function findAddresses(lookUp: LookUp, host: string, named: Named): Promise<HostFacts> {
  const bare = { ...named, isAlias: false, addresses: [], complete: true, absent: false };
  if (host === "." || isIP(host) !== 0) return bare;
  const answers = await Promise.all([lookUp(host, "A"), lookUp(host, "AAAA")]);
  const ips = [...new Set(answers.flatMap((answer) => fieldsOf(answer, "address")))];
  const complete = answers.every(({ state }) => state !== "unknown");
  return {
    ...named,
    isAlias: answers.some(({ aliases }) => aliases.length > 0) ? true : complete ? false : null,
    addresses: ips.slice(0, MAX_ADDRESSES).map((ip) => ({ ip, ...UNASKED })),
    complete,
    // An alias whose target does not exist is itself a name that exists.
    absent: answers.some(isAbsent),
  };
}

function isAbsent({ state, aliases }: Found): boolean {
  return state === "absent" && aliases.length === 0;
}

/** Adds reverse names and networks to the first addresses. All lookups run in parallel. */
export async function detailHosts(net: Net, hosts: readonly HostFacts[]): Promise<HostFacts[]> {
  const ips = [...new Set(hosts.flatMap(({ addresses }) => addresses.map(({ ip }) => ip)))].slice(0, MAX_DETAILED);
  const details = new Map(await Promise.all(ips.map(async (ip) => [ip, await detailAddress(net, ip)] as const)));
  return hosts.map((host) => ({
    ...host,
    addresses: host.addresses.map((address) => details.get(address.ip) ?? address),
  }));
}

/** Looks up one address. Skips non-public addresses: no registry has them, and outside resolvers must not see them. */
async function detailAddress(net: Net, ip: string): Promise<AddressFacts> {
  if (addressType(ip) !== "public") return { ip, ...UNASKED };
  const patience = net.remainingMs() - RESERVE_MS;
  const [reverse, cymru] = await Promise.all([
    waitAtMost(patience, lookUpReverseName(net, ip), null),
    waitAtMost(patience, askCymru(net, ip), null),
  ]);
  const asn = cymru?.origin?.asns[0] ?? null;
  const { hostname = null, exists = null, fcrdns = null } = reverse ?? {};
  return { ip, ptr: hostname, has_ptr: exists, fcrdns, asn };
}
