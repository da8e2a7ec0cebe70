import type { Clock, Random } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { createQuery, type Query } from "#probe-agent/net/dns/client.ts";
import { parseServer, type ServerAddress } from "#probe-agent/net/dns/server-address.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { DnsPort, DnsAnswer } from "#probe-agent/port/dns.ts";
import { readFile } from "node:fs/promises";
import { isIP, isIPv6 } from "node:net";
import { failed, ok, refused, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { arpaName } from "#probe-agent/dns-codec/address.ts";
import { whyNoAddress } from "#probe-agent/net/dns/no-address.ts";
import type { Address, IpVersion, Resolved } from "#probe-agent/port/address.ts";

/** Options of DNS. */
interface DnsDeps {
  /**
   * The operator's resolvers: `address`, `v4:port`, `[v6]:port` or `address#port`. If empty, the system's resolvers are
   * used.
   */
  readonly servers: readonly string[];
  /** Decides which names are resolved and which found addresses are allowed. The servers themselves are trusted. */
  readonly egress: Egress;
  readonly clock: Clock;
  readonly random: Random;
  /** Path of the system's configuration, read for each question. Default: /etc/resolv.conf. */
  readonly resolvConf?: string;
  /** PEM roots for DNS over TLS and HTTPS, instead of Node's. */
  readonly roots?: readonly string[];
}

// resolv.conf(5): further servers are ignored, and none means the local host.
const MAX_SERVERS = 3;
const OWN_MACHINE: ServerAddress = { ip: "127.0.0.1", port: 53 };

/**
 * Creates the DNS port of each job. Nothing is cached, so measurements are fresh. Throws RangeError for an invalid
 * server.
 */
export function createDns(deps: DnsDeps): (job: JobLimits) => DnsPort {
  const configured = deps.servers.map((text): ServerAddress => {
    const server = parseServer(text);
    if (server === null) throw new RangeError(`${text} is not a DNS server: use address or address:port`);
    return server;
  });
  const servers = (): Promise<readonly ServerAddress[]> =>
    configured.length > 0 ? Promise.resolve(configured) : readSystemServers(deps.resolvConf);
  return (job) => {
    const query = createQuery({ ...deps, servers }, job);
    const resolver = { egress: deps.egress, clock: deps.clock, query, lookUpMs: job.lookUpMs };
    return {
      query: (question) => query(question),
      resolve: (host, only) => resolveHost(resolver, host, only),
      reverse: (ip) => reverseNames(query, ip),
    };
  };
}

/** Returns the name servers of a resolv.conf, in order. */
export function parseResolvConf(text: string): readonly ServerAddress[] {
  const servers = text
    .split("\n")
    .map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1])
    .map((address) => (address === undefined ? null : parseServer(address)))
    .filter((server) => server !== null)
    .slice(0, MAX_SERVERS);
  return servers.length === 0 ? [OWN_MACHINE] : servers;
}

/** Reads the system's resolv.conf at each call: leases and networks change while an agent runs. */
async function readSystemServers(path = "/etc/resolv.conf"): Promise<readonly ServerAddress[]> {
  try {
    return parseResolvConf(await readFile(path, "utf8"));
  } catch {
    return [OWN_MACHINE];
  }
}

const LOOK_UP_MS = 5_000;
const REVERSE_MS = 2_000;
// Wait for the other address family after one has answered: enough time to repeat one lost query.
const OTHER_FAMILY_MS = 1_500;
// Maximum number of addresses kept. No service publishes more.
const MAX_PER_FAMILY = 64;
const MAX_REVERSE_NAMES = 16;

/** Dependencies of a resolver in addition to the client. */
interface ResolverDeps {
  readonly egress: Egress;
  readonly clock: Clock;
  readonly query: Query;
  /** Maximum time of a look-up, in milliseconds; absent: 5 s. */
  readonly lookUpMs?: number | undefined;
}

/**
 * Implements `DnsPort.resolve`. Further reason: invalid_name, for text that is not a host name. `whyNoAddress` chooses
 * the failure of a name without a usable answer.
 */
async function resolveHost(deps: ResolverDeps, raw: string, only?: IpVersion): Promise<Outcome<Resolved>> {
  const checked = deps.egress.checkHost(raw, { connects: true });
  if (!checked.ok) {
    return checked.code === "target_not_allowed"
      ? refused
      : failed("dns", "target", "invalid_name", "This is not a valid DNS name");
  }
  const startedAt = deps.clock.monotonic();
  const { host } = checked;
  const wanted = only === undefined ? ([4, 6] as const) : [only];
  // RFC 6761 section 6.3: localhost is never resolved by DNS. The egress rules decide whether it is allowed.
  const known = checked.literal ? [host] : /(?:^|\.)localhost$/.test(host) ? ["127.0.0.1", "::1"] : null;
  const found = known === null ? await lookUp(deps, host, wanted) : { addresses: known.map(toAddress), unanswered: [] };
  if ("status" in found) return found;
  const addresses = found.addresses.filter((address) => wanted.some((version) => version === address.version));
  if (addresses.length === 0) {
    return failed("dns", "target", "no_address", `The name has no IPv${wanted.join(" or IPv")} address`);
  }
  const allowed = addresses.filter((address) => deps.egress.allowsAddress(address.ip));
  if (allowed.length === 0) return refused;
  const blocked = addresses.filter((address) => !allowed.includes(address));
  const unanswered = found.unanswered.length === 0 ? {} : { unanswered: found.unanswered };
  return ok({
    host,
    allowed,
    blocked,
    ...unanswered,
    elapsedMs: known === null ? deps.clock.monotonic() - startedAt : 0,
  });
}

interface LookedUp {
  readonly addresses: readonly Address[];
  readonly unanswered: readonly IpVersion[];
}

async function lookUp(deps: ResolverDeps, host: string, versions: readonly IpVersion[]): Promise<LookedUp | Failed> {
  const patience = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const answers = await Promise.all(
    versions.map(async (version) => {
      const question = { name: host, type: version === 4 ? "A" : "AAAA", timeoutMs: deps.lookUpMs ?? LOOK_UP_MS };
      const answer = await deps.query(question, patience.signal);
      if (addressesOf(host, version, answer).length > 0) timer ??= setTimeout(() => patience.abort(), OTHER_FAMILY_MS);
      return answer;
    }),
  );
  clearTimeout(timer);
  const addresses = versions.flatMap((version, index) => addressesOf(host, version, answers[index]));
  if (addresses.length === 0) return whyNoAddress(answers);
  const unanswered = versions.filter((version, index) => {
    const status = answers[index]?.status;
    const isAnswer = status === "NOERROR" || status === "NXDOMAIN";
    return !isAnswer && !addresses.some((address) => address.version === version);
  });
  return { addresses, unanswered };
}

function addressesOf(host: string, version: IpVersion, answer: DnsAnswer | undefined): Address[] {
  const { records } = followCnames(host, version === 4 ? "A" : "AAAA", answer?.answers ?? []);
  const ips = new Set(records.map((record) => record.typed["address"]).filter((ip) => typeof ip === "string"));
  return [...ips].slice(0, MAX_PER_FAMILY).map(toAddress);
}

function toAddress(ip: string): Address {
  return { ip, version: isIPv6(ip) ? 6 : 4 };
}

/** Implements `DnsPort.reverse`: returns PTR names, following the CNAMEs of RFC 2317 delegations. */
async function reverseNames(query: Query, ip: string): Promise<readonly string[] | null> {
  const name = isIP(ip) === 0 ? null : arpaName(ip);
  if (name === null) return [];
  const answer = await query({ name, type: "PTR", timeoutMs: REVERSE_MS });
  if (answer.status !== "NOERROR" && answer.status !== "NXDOMAIN") return null;
  const { records } = followCnames(name, "PTR", answer.answers);
  const names = records.map((record) => record.typed["ptrdname"]).filter((ptr) => typeof ptr === "string");
  const once = new Map(names.map((ptr) => [ptr.toLowerCase(), ptr]));
  return [...once.values()].slice(0, MAX_REVERSE_NAMES);
}
