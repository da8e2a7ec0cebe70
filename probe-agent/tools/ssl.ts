import { literalFamily } from "#shared/egress/addresses.ts";
import { failed, ok } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ssl as contract } from "#shared/tools/ssl.ts";
import { sslReport } from "#probe-agent/analysis/tls/ssl.ts";
import { readServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import type { Address, Resolved } from "#probe-agent/port/address.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { firstThatConnects } from "#probe-agent/tools/ssl/connect.ts";
import { probeServer } from "#probe-agent/tools/ssl/probe.ts";
import { lookUpNames } from "#probe-agent/tools/ssl/names.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";
import { requestTimestamps } from "#probe-agent/tools/ssl/timestamps.ts";

type Result = ResultOf<typeof contract>;

/** Time reserved for the steps after the first handshake. */
const RESERVE_MS = 1500;

/**
 * Performs one handshake for certificate and chain. Then sends ClientHellos to the same address for versions, suites
 * and groups, and checks revocation, signed certificate timestamps, TLSA and CAA records.
 */
export const ssl = implement(contract, async (net, { host, port }) => {
  const now = net.now();
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const servername = literalFamily(host) === null ? host : null;
  const seen = await firstThatConnects(net, resolved.data, { port, servername }, RESERVE_MS);
  if (seen.outcome.status !== "ok") return seen.outcome;
  const observation = seen.outcome.data;
  const { ip, version } = seen.address;
  const terms = { host, roots: net.tls.roots(), now };
  const chain = readServerChain(observation.sent, terms);
  if (!chain) return failed("tls", "target", "malformed_certificate", "The server's certificate cannot be parsed");
  const target = { host, ip, port, servername };
  const [probed, revocation, timestamps, names] = await Promise.all([
    probeServer(net, target, observation),
    checkRevocation(net, chain, observation.ocspStaple, RESERVE_MS),
    requestTimestamps(net, target, RESERVE_MS),
    lookUpNames(net, target, chain, RESERVE_MS),
  ]);
  const { ctLogs } = net.data;
  const report = sslReport({ ...terms, ...probed, observation, chain, revocation, timestamps, names, ctLogs });
  return ok({
    host,
    port,
    ip,
    ip_version: version,
    addresses: addressRows(resolved.data),
    servername,
    resolve_ms: toMicroseconds(resolved.data.elapsedMs),
    ...report,
    observed_at: now.toISOString(),
    limitations: [...blockedNote(resolved.data), ...report.limitations],
  });
});

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
