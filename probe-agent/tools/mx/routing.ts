import { isIP } from "node:net";
import { routingFindings, type HostFacts, type AddressFacts, type Routing } from "#probe-agent/tools/mx/exchangers.ts";
import { daneFindings, ROUTING_ADVICE } from "#probe-agent/tools/mx/routing-advice.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import { mailProvider } from "#probe-agent/tools/mx/providers.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { type LookUp, fieldsOf, type Found } from "#probe-agent/sources/dns-look-up.ts";
import { inspectDane, type HostDane } from "#probe-agent/tools/mx/dane.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx/contract.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";
import { askCymru } from "#probe-agent/sources/cymru.ts";
import { lookUpReverseName } from "#probe-agent/sources/reverse-name.ts";

type Result = ResultOf<typeof mx>;
/** The fields of a result that describe the routing of mail. */
export type RoutingResult = Pick<Result, "status" | "records" | "null_mx" | "implicit_mx" | "provider" | "ipv6">;

/** Routing of a domain, with findings and limitations. */
interface RoutingCheck {
  readonly routing: RoutingResult;
  /** Findings on the hosts and their TLSA records. */
  readonly findings: readonly Finding[];
  readonly limitations: readonly string[];
}

/** Maximum number of hosts whose DANE is validated. One host can need 60 DNS queries. */
const MAX_DANE = 6;
const RESERVE_MS = 600;
const MAX_NAME = 260;
const MAX_MESSAGE = 700;

/** Finds a domain's mail hosts and their addresses, then looks up all other data of the hosts in parallel. */
export async function inspectRouting(net: Net, lookUp: LookUp, domain: string): Promise<RoutingCheck> {
  const found = await findHosts(lookUp, domain);
  const patience = net.remainingMs() - RESERVE_MS;
  const [hosts, danes] = await Promise.all([
    waitAtMost(patience, detailHosts(net, found.hosts), [...found.hosts]),
    inspectDanes(net, found.hosts, patience),
  ]);
  const routing = { ...found, hosts };
  const addresses = hosts.flatMap((host) => host.addresses.map(({ ip }) => ip));
  const records = hosts.map((host) => toRecord(host, danes.get(host.host) ?? NOT_ASKED));
  const result: RoutingResult = {
    status: found.status,
    records,
    null_mx: found.nullMx,
    implicit_mx: found.implicitMx,
    provider: mailProvider(hosts.map(({ host }) => host)),
    ipv6: addresses.some((ip) => isIP(ip) === 6)
      ? true
      : hosts.length > 0 && hosts.every(({ complete }) => complete)
        ? false
        : null,
  };
  const daneFacts = [...danes].map(([host, dane]) => ({ host, ...dane }));
  const drafts = [...daneFindings(daneFacts), ...routingFindings(routing)].map((draft) => ({
    ...draft,
    message: toPrintableAscii(draft.message, MAX_MESSAGE),
    ...(draft.where === undefined ? {} : { where: toPrintableAscii(draft.where, MAX_NAME) }),
  }));
  const findings = adviseOn(ROUTING_ADVICE, drafts, { domain });
  return { routing: result, findings, limitations: limitationsOf(found.total, records) };
}

const NOT_ASKED: HostDane = { status: "absent", records: [], reason: null };

async function inspectDanes(net: Net, hosts: readonly HostFacts[], patience: number): Promise<Map<string, HostDane>> {
  const names = [...new Set(hosts.map(({ host }) => host))].filter((host) => host !== "." && isIP(host) === 0);
  const late: HostDane = { status: "unknown", records: [], reason: "DANE could not be validated in time" };
  const skipped: HostDane = {
    status: "unknown",
    records: [],
    reason: `only the first ${MAX_DANE} hosts are checked`,
  };
  return new Map(
    await Promise.all(
      names.map(async (host, index) => {
        const dane = index < MAX_DANE ? waitAtMost(patience, inspectDane(net, host), late) : skipped;
        return [host, await dane] as const;
      }),
    ),
  );
}

function toRecord(host: HostFacts, dane: HostDane): Result["records"][number] {
  return {
    priority: host.priority,
    host: toPrintableAscii(host.host, MAX_NAME),
    ttl: host.ttl,
    addresses: host.addresses.map((address) => ({
      ...address,
      ptr: address.ptr === null ? null : toPrintableAscii(address.ptr, MAX_NAME),
    })),
    is_cname: host.isAlias,
    dane,
  };
}

/** Returns limitations for hosts that were not checked and for DANE that is unknown. */
function limitationsOf(total: number, records: Result["records"]): string[] {
  const rest =
    total > records.length && records.length > 0
      ? [`The domain has ${total} MX records; the first ${records.length} were checked.`]
      : [];
  const danes = records.flatMap(({ host, dane: { status, reason } }) =>
    status === "unknown" ? [`DANE of ${host} is unknown: ${reason ?? "no answer"}.`] : [],
  );
  return [...rest, ...danes];
}

/** Maximum number of mail hosts. */
const MAX_HOSTS = 20;
/** Maximum number of addresses of one host. */
const MAX_ADDRESSES = 8;
/** Maximum number of addresses, over all hosts, whose reverse names and networks are looked up. */
const MAX_DETAILED = 24;
/** Time reserved for the result after the lookups of reverse names and networks, in milliseconds. */
const HOSTS_RESERVE_MS = 700;

const UNASKED = { ptr: null, has_ptr: null, fcrdns: null, asn: null } as const;

/** Finds the mail hosts of a domain and their addresses, without reverse names and networks. */
async function findHosts(lookUp: LookUp, domain: string): Promise<Routing> {
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
async function detailHosts(net: Net, hosts: readonly HostFacts[]): Promise<HostFacts[]> {
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
  const patience = net.remainingMs() - HOSTS_RESERVE_MS;
  const [reverse, cymru] = await Promise.all([
    waitAtMost(patience, lookUpReverseName(net, ip), null),
    waitAtMost(patience, askCymru(net, ip), null),
  ]);
  const asn = cymru?.origin?.asns[0] ?? null;
  const { hostname = null, exists = null, fcrdns = null } = reverse ?? {};
  return { ip, ptr: hostname, has_ptr: exists, fcrdns, asn };
}
