import { Value } from "typebox/value";
import { ok, refused, type Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { REVERSE_IP_INPUT, reverseIp as contract } from "#shared/tools/reverse-ip/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { ipText, readIp, isIn, readBlock } from "#probe-agent/analysis/network/ip-numbers.ts";
import {
  countRegistrable,
  mergeNames,
  NAME_SOURCES,
  readName,
  type SourceName,
  type SeenName,
} from "#probe-agent/analysis/registry/seen-names.ts";
import { askPassiveDns } from "#probe-agent/sources/passive-dns.ts";
import { implement, type JobInput, type Untimed } from "#probe-agent/tools/implement.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { resolvesTo } from "#probe-agent/sources/reverse-name.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { subjectAltNames } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/**
 * Address ranges that content networks publish for their edges: Cloudflare (cloudflare.com/ips), Fastly
 * (api.fastly.com/public-ip-list), Amazon CloudFront (the CLOUDFRONT entries of ip-ranges.json that contain no other
 * service). An address in them is shared by many sites, but the ranges do not say by which. The list is incomplete,
 * because other networks publish none.
 */
const RANGES: Readonly<Record<string, string>> = {
  Cloudflare:
    "173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18 108.162.192.0/18 190.93.240.0/20 " +
    "188.114.96.0/20 197.234.240.0/22 198.41.128.0/17 162.158.0.0/15 104.16.0.0/13 104.24.0.0/14 172.64.0.0/13 " +
    "131.0.72.0/22 2400:cb00::/32 2606:4700::/32 2803:f800::/32 2405:b500::/32 2405:8100::/32 2a06:98c0::/29 2c0f:f248::/32",
  Fastly:
    "23.235.32.0/20 43.249.72.0/22 103.244.50.0/24 103.245.222.0/23 103.245.224.0/24 104.156.80.0/20 140.248.64.0/18 " +
    "140.248.128.0/17 146.75.0.0/17 151.101.0.0/16 157.52.64.0/18 167.82.0.0/17 167.82.128.0/20 167.82.160.0/20 " +
    "167.82.224.0/20 172.111.64.0/18 185.31.16.0/22 199.27.72.0/21 199.232.0.0/16 2a04:4e40::/32 2a04:4e42::/32",
  "Amazon CloudFront":
    "13.32.0.0/15 13.35.0.0/16 52.84.0.0/15 54.182.0.0/16 54.192.0.0/16 99.84.0.0/16 99.86.0.0/16 143.204.0.0/16 " +
    "2600:9000::/28",
};

const TABLE = Object.entries(RANGES).flatMap(([network, blocks]) =>
  blocks
    .split(" ")
    .map(readBlock)
    .flatMap((block) => (block === null ? [] : [{ network, block }])),
);

/** Returns the content network that publishes the address as its own, or null if none does. */
export function findContentNetwork(ip: string): string | null {
  const address = readIp(ip);
  return address === null ? null : (TABLE.find(({ block }) => isIn(address, block))?.network ?? null);
}

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

/** Certificate that the address's default site sent. */
interface DefaultCertificate {
  readonly shown: ResultOf<typeof contract>["certificate"];
  /** DNS names of the certificate. */
  readonly names: readonly string[];
  readonly limitation: string | null;
}

const HANDSHAKE_MS = 6_000;

const LATE: DefaultCertificate = { shown: null, names: [], limitation: "Port 443 sent no certificate in time." };

/** A name with the result of its lookup. Null if it was not looked up or the lookup failed. */
type VerifiedName = SeenName & { readonly still_resolves: boolean | null };

/** Maximum number of names looked up, and of lookups at the same time. */
const MOST_LOOKUPS = 120;
const AT_ONCE = 12;

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

/**
 * Looks up the first names again, within `patienceMs` milliseconds for all of them together. Wildcards are skipped,
 * because they do not resolve by themselves.
 */
async function verifyNames(
  net: Net,
  names: readonly SeenName[],
  ip: string,
  patienceMs: number,
): Promise<{ readonly names: readonly VerifiedName[]; readonly skipped: number }> {
  const candidates = names.filter(({ domain }) => !domain.startsWith("*."));
  const queue = candidates.slice(0, MOST_LOOKUPS).map(({ domain }) => domain);
  const verdicts = new Map<string, boolean | null>();
  const endsAt = net.monotonic() + patienceMs;
  const work = async (): Promise<void> => {
    for (let domain = queue.shift(); domain !== undefined; domain = queue.shift()) {
      const left = endsAt - net.monotonic();
      if (left <= 0) return;
      verdicts.set(domain, await waitAtMost(left, resolvesTo(net, domain, ip), null));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return {
    names: names.map((name) => ({ ...name, still_resolves: verdicts.get(name.domain) ?? null })),
    skipped: candidates.length - verdicts.size,
  };
}

/** Connects to port 443 without a server name and returns the certificate of the site that answers without one. */
async function defaultCertificate(net: Net, ip: string): Promise<DefaultCertificate> {
  const seen = await net.tls.inspect({ ip, port: 443, servername: null, timeoutMs: HANDSHAKE_MS });
  if (seen.status !== "ok") {
    const why = seen.status === "failed" ? seen.reason : "not allowed";
    return { shown: null, names: [], limitation: `Port 443 sent no certificate (${why}).` };
  }
  const [leaf] = seen.data.sent;
  const certificate = leaf === undefined ? null : parseCertificate(leaf);
  if (certificate === null)
    return { shown: null, names: [], limitation: "The certificate on port 443 cannot be read." };
  const names = dnsNames(certificate);
  const { common_name: subject, not_after, days_left } = describeCertificate(certificate, net.now());
  return { shown: { subject, names: names.length, not_after, days_left }, names, limitation: null };
}

function dnsNames(certificate: Certificate): string[] {
  const names = readable(() => subjectAltNames(certificate), null) ?? [];
  return names.flatMap(({ kind, contents }) => (kind === "dns" ? [Buffer.from(contents).toString("latin1")] : []));
}
