import { Value } from "typebox/value";
import { ok, refused, type Outcome } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { REVERSE_IP_INPUT, reverseIp as contract } from "#shared/tools/reverse-ip.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { findContentNetwork } from "#probe-agent/analysis/network/cdn-ranges.ts";
import { ipText, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import {
  countRegistrable,
  mergeNames,
  NAME_SOURCES,
  readName,
  type SourceName,
} from "#probe-agent/analysis/registry/seen-names.ts";
import { askPassiveDns } from "#probe-agent/sources/passive-dns.ts";
import { implement, type JobInput, type Untimed } from "#probe-agent/tools/implement.ts";
import { defaultCertificate, type DefaultCertificate } from "#probe-agent/tools/reverse-ip/certificate.ts";
import { verifyNames, type VerifiedName } from "#probe-agent/tools/reverse-ip/verify.ts";

type Result = Untimed<ResultOf<typeof contract>>;

/** Time limits in milliseconds for all sources together, then for the lookup of the names. */
const SOURCES_MS = 8_000;
const VERIFY_MS = 15_000;
const RESERVE_MS = 700;
/** Maximum number of rows of the result. At their longest, they fill half of a result. */
const MOST_ROWS = 500;
/** Maximum number of names taken from one source before they are merged. */
const MOST_NAMES = 2_000;
/** Number of customers from which sharing is no coincidence. */
const SHARED_FROM = 5;

const LATE: DefaultCertificate = { shown: null, names: [], limitation: "Port 443 sent no certificate in time." };

/**
 * Finds the names of an address: asks every reliable source at the same time, then looks up the found names. The result
 * always says that it is incomplete.
 */
export const reverseIp = implement(contract, async (net, { ip: given }, input = {}): Promise<Outcome<Result>> => {
  const observedAt = net.now().toISOString();
  const address = readIp(given);
  if (address === null) return { status: "invalid", field: "ip", message: "must be an IPv4 or IPv6 address" };
  const ip = ipText(address);
  const vetted = await net.dns.resolve(ip);
  if (vetted.status === "refused") return refused;

  const patience = Math.min(SOURCES_MS, net.remainingMs() - RESERVE_MS);
  const [ptr, certificate, passive] = await Promise.all([
    waitAtMost(patience, net.dns.reverse(ip), null),
    waitAtMost(patience, defaultCertificate(net, ip), LATE),
    waitAtMost(patience, askPassiveDns(net, ip, Math.max(1, patience)), {
      names: [],
      limitation: "Passive DNS: the service did not answer in time.",
    }),
  ]);
  const observations = readObservations(input);
  const merged = mergeNames([
    ...(ptr ?? []).map(named("ptr")),
    ...observations,
    ...certificate.names.slice(0, MOST_NAMES).map(named("certificate")),
    ...(passive?.names ?? []).slice(0, MOST_NAMES).map((name): SourceName => ({ ...name, source: "provider" })),
  ]);
  const verifyMs = Math.min(VERIFY_MS, net.remainingMs() - RESERVE_MS);
  const { names, skipped } = await verifyNames(net, merged, ip, verifyMs);
  const rows = names.map((name) => rowOf(name, observedAt)).toSorted(byUse);
  const shown = rows.slice(0, MOST_ROWS);
  const present = rows.filter((row) => row.still_resolves !== false).map((row) => row.domain);
  const customers = countRegistrable(present);
  const cdn = findContentNetwork(ip);
  const reverseNames = new Set((ptr ?? []).map((name) => readName(name)));
  const verdicts = new Set(rows.filter((row) => reverseNames.has(row.domain)).map((row) => row.still_resolves));
  return ok({
    ip,
    ip_version: address.version,
    ptr: [...(ptr ?? [])],
    fcrdns: verdicts.has(true) ? true : verdicts.has(false) ? false : null,
    domains: shown,
    total: rows.length,
    registrable_domains: customers,
    sources_used: NAME_SOURCES.filter((source) => rows.some((row) => row.sources.includes(source))),
    complete: false as const,
    shared_hosting_hint: cdn !== null || customers >= SHARED_FROM ? true : rows.length === 0 ? null : false,
    cdn,
    certificate: certificate.shown,
    source: ["dns", ...(certificate.shown === null ? [] : ["tls"]), ...(passive === null ? [] : ["passive_dns"])],
    observed_at: observedAt,
    limitations: [
      "No source knows every name that resolves to an address, so the list is never complete.",
      ...(ptr === null ? ["Reverse DNS did not answer in time."] : []),
      ...[certificate.limitation, passive === null ? NO_PROVIDER : passive.limitation].filter((line) => line !== null),
      ...(cdn === null
        ? []
        : [`The address belongs to ${cdn} and serves very many sites. Only a few of them are listed.`]),
      ...(skipped === 0 ? [] : [`${skipped} names were not looked up again.`]),
      ...(rows.length > shown.length ? [`Only the first ${MOST_ROWS} of ${rows.length} names are listed.`] : []),
    ],
  });
});

const NO_PROVIDER = "Passive DNS was not asked: the operator of this probe has not configured a service.";

/** Reads the names that the control plane has seen. Returns an empty list for anything else. */
function readObservations(input: JobInput): SourceName[] {
  if (!Value.Check(REVERSE_IP_INPUT, input)) return [];
  return input.observations.map(({ host, first_seen, last_seen }) => ({
    host,
    source: "observation",
    first_seen: instant(first_seen),
    last_seen: instant(last_seen),
  }));
}

function instant(text: string): string | null {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

function named(source: SourceName["source"]): (host: string) => SourceName {
  return (host) => ({ host, source, first_seen: null, last_seen: null });
}

/** Converts a name to a row. A name that resolves to the address now counts as seen now. */
function rowOf(
  { domain, sources, first_seen, last_seen, still_resolves }: VerifiedName,
  now: string,
): Result["domains"][number] {
  return {
    domain,
    source: sources[0] ?? "provider",
    sources: [...sources],
    first_seen,
    last_seen: still_resolves === true ? now : last_seen,
    still_resolves,
  };
}

function byUse(one: Result["domains"][number], other: Result["domains"][number]): number {
  const rank = ({ still_resolves: leads }: typeof one) => (leads === true ? 0 : leads === null ? 1 : 2);
  return rank(one) - rank(other) || (one.domain < other.domain ? -1 : one.domain > other.domain ? 1 : 0);
}
