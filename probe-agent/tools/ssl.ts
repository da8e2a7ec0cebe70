import { literalFamily } from "#shared/egress/addresses.ts";
import { failed, ok, type Outcome } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ssl as contract } from "#shared/tools/ssl.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import { sslReport } from "#probe-agent/analysis/ssl.ts";
import type { Net } from "#probe-agent/net/port.ts";
import type { Address, Resolved } from "#probe-agent/net/port/address.ts";
import type { TlsObservation, TlsRequest, TlsVersion } from "#probe-agent/net/port/tls.ts";
import { implement } from "#probe-agent/tools/implement.ts";

type Result = ResultOf<typeof contract>;
type Protocols = Result["protocols"];

/** Addresses tried when connecting fails, and how long one may take while another is left. */
const MAX_ADDRESSES = 3;
const ADDRESS_MS = 6000;
const HANDSHAKE_MS = 10_000;
const VERSION_MS = 5000;
/** Kept back for the version tests and the report. */
const RESERVE_MS = 1500;
const ALPN = ["h2", "http/1.1"];

const VERSIONS = [
  ["tls1_0", "TLSv1"],
  ["tls1_1", "TLSv1.1"],
  ["tls1_2", "TLSv1.2"],
  ["tls1_3", "TLSv1.3"],
] as const satisfies readonly (readonly [keyof Protocols, TlsVersion])[];

/** One handshake for certificate and chain, then one for each protocol version, all with the same address. */
export const ssl = implement(contract, async (net, { host, port }) => {
  const now = net.now();
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const servername = literalFamily(host) === null ? host : null;
  const seen = await firstThatConnects(net, resolved.data, { port, servername });
  if (seen.outcome.status !== "ok") return seen.outcome;
  const observation = seen.outcome.data;
  const { ip, version } = seen.address;
  const { protocols, untold } = await testVersions(net, { ip, port, servername }, observation);
  const report = sslReport({ observation, host, roots: net.tls.roots(), protocols, now });
  if (!report) return failed("tls", "target", "malformed_certificate", "The server's certificate cannot be read");
  return ok({
    host,
    port,
    ip,
    ip_version: version,
    addresses: addressRows(resolved.data),
    servername,
    protocols,
    resolve_ms: toMicroseconds(resolved.data.elapsedMs),
    ...report,
    observed_at: now.toISOString(),
    limitations: [...untold, ...blockedNote(resolved.data), ...report.limitations],
  });
});

type Where = Pick<TlsRequest, "port" | "servername">;

/** The next address is tried only where no connection stood; what a server says is its answer. */
async function firstThatConnects(
  net: Net,
  { allowed }: Resolved,
  where: Where,
): Promise<{ address: Address; outcome: Outcome<TlsObservation> }> {
  const addresses = allowed.slice(0, MAX_ADDRESSES);
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    const timeoutMs = Math.min(net.remainingMs() - RESERVE_MS, isLast ? HANDSHAKE_MS : ADDRESS_MS);
    const outcome = await inspect(net, { ...where, ip: address.ip, timeoutMs });
    const unconnected = outcome.status === "refused" || (outcome.status === "failed" && outcome.stage === "connect");
    if (!unconnected || isLast) return { address, outcome };
  }
  throw new Error("a resolved host has an address");
}

/** Some servers of other protocols refuse a client that offers HTTP only. */
async function inspect(net: Net, request: TlsRequest): Promise<Outcome<TlsObservation>> {
  const outcome = await net.tls.inspect({ ...request, alpn: ALPN });
  const refusesAlpn = outcome.status === "failed" && outcome.reason === "no_application_protocol";
  return refusesAlpn ? net.tls.inspect(request) : outcome;
}

/** Which versions the server accepts: a handshake each, in parallel, but for the one already seen. */
async function testVersions(
  net: Net,
  where: Where & { readonly ip: string },
  { protocol }: TlsObservation,
): Promise<{ protocols: Protocols; untold: string[] }> {
  const timeoutMs = Math.min(VERSION_MS, Math.max(0, net.remainingMs() - RESERVE_MS / 2));
  const tested = await Promise.all(
    VERSIONS.map(async ([key, version]) => {
      if (protocol === version) return [key, true] as const;
      const request = { ...where, minVersion: version, maxVersion: version, timeoutMs };
      return [key, accepts(await inspect(net, request), version)] as const;
    }),
  );
  const untold = tested.flatMap(([key, offered]) =>
    offered === null
      ? [`Whether ${key.replace("tls1_", "TLS 1.")} is offered could not be told: no answer in time.`]
      : [],
  );
  return { protocols: { ssl3: null, ...(Object.fromEntries(tested) as Omit<Protocols, "ssl3">) }, untold };
}

/**
 * A ServerHello of the version means it was accepted, whatever came after; servers may answer with another version.
 * A refusal, a close or a reset after a TCP connection means it was not, for another handshake with the same server
 * has worked. Silence means neither.
 */
function accepts(outcome: Outcome<TlsObservation>, version: TlsVersion): boolean | null {
  if (outcome.status === "ok") return outcome.data.serverVersion === version;
  if (outcome.status !== "failed" || outcome.stage !== "tls" || outcome.source === "probe") return null;
  return outcome.reason === "timeout" ? null : false;
}

function addressRows({ allowed, blocked }: Resolved): Result["addresses"] {
  const row = (isBlocked: boolean) => (address: Address) => ({
    ip: address.ip,
    ip_version: address.version,
    blocked: isBlocked,
  });
  return [...allowed.map(row(false)), ...blocked.map(row(true))];
}

function blockedNote({ blocked }: Resolved): string[] {
  return blocked.length > 0 ? ["Addresses marked blocked were not contacted."] : [];
}
