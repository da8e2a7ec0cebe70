import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import { ping as contract, type PingResult, type PingReply, type PortRow } from "#shared/tools/ping/contract.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import { implement, wakeIcmp, type Implementation, type Untimed } from "#probe-agent/tools/implement.ts";
import { blockedNote, hasRaw, onlyVersion, preferredAddress } from "#probe-agent/tools/ping/address.ts";
import { pingByTcp } from "#probe-agent/tools/ping/tcp.ts";
import {
  probeFault,
  RESERVE_MS,
  scheduleEchoes,
  summarize,
  type Part,
  type PingParams,
} from "#probe-agent/tools/ping/part.ts";
import { traceRoute } from "#probe-agent/tools/ping/traceroute.ts";
import { type EchoReply, ONE_SYN_MS } from "#probe-agent/port/packets.ts";

/** Usual services on TCP ports, with IANA's names (Service Name and Transport Protocol Port Number Registry). */
const SERVICES: ReadonlyMap<number, string> = new Map([
  [21, "ftp"],
  [22, "ssh"],
  [23, "telnet"],
  [25, "smtp"],
  [43, "whois"],
  [53, "domain"],
  [70, "gopher"],
  [79, "finger"],
  [80, "http"],
  [88, "kerberos"],
  [110, "pop3"],
  [111, "sunrpc"],
  [113, "ident"],
  [119, "nntp"],
  [135, "epmap"],
  [139, "netbios-ssn"],
  [143, "imap"],
  [179, "bgp"],
  [194, "irc"],
  [389, "ldap"],
  [443, "https"],
  [445, "microsoft-ds"],
  [465, "submissions"],
  [515, "printer"],
  [554, "rtsp"],
  [563, "nntps"],
  [587, "submission"],
  [631, "ipp"],
  [636, "ldaps"],
  [853, "domain-s"],
  [873, "rsync"],
  [990, "ftps"],
  [993, "imaps"],
  [995, "pop3s"],
  [1080, "socks"],
  [1194, "openvpn"],
  [1433, "ms-sql-s"],
  [1723, "pptp"],
  [1883, "mqtt"],
  [2049, "nfs"],
  [2375, "docker"],
  [2376, "docker-s"],
  [3268, "msft-gc"],
  [3306, "mysql"],
  [3389, "ms-wbt-server"],
  [3690, "svn"],
  [4190, "sieve"],
  [4369, "epmd"],
  [5060, "sip"],
  [5061, "sips"],
  [5222, "xmpp-client"],
  [5269, "xmpp-server"],
  [5432, "postgresql"],
  [5671, "amqps"],
  [5672, "amqp"],
  [5900, "rfb"],
  [5984, "couchdb"],
  [6379, "redis"],
  [6697, "ircs-u"],
  [8080, "http-alt"],
  [8883, "secure-mqtt"],
  [9418, "git"],
  [11211, "memcache"],
  [27017, "mongodb"],
]);

/** Returns the usual service of a TCP port, or null if there is none. The actual service can be a different one. */
function usualService(port: number): string | null {
  return SERVICES.get(port) ?? null;
}

/** Runs ping, ports or traceroute: one name lookup, then the action on one vetted address. */
export const ping: Implementation<typeof contract.params.properties, typeof contract.result.properties> = implement(
  contract,
  async (net, params) => {
    if (params.action === "ports" && params.ports === undefined) {
      return { status: "invalid", field: "ports", message: "is required with action=ports" };
    }
    const observedAt = net.now().toISOString();
    const resolved = await net.dns.resolve(params.host, onlyVersion(params.ip_version));
    if (resolved.status !== "ok") return resolved;
    const address = preferredAddress(net, resolved.data, needsRaw(params));
    const part = await ACTIONS[params.action](net, address, params);
    if (part.status !== "ok") return part;
    const { fields, limitations } = part.data;
    const result: Untimed<PingResult> = {
      action: params.action,
      host: resolved.data.host,
      ip: address.ip,
      ip_version: address.version,
      ...fields,
      resolve_ms: toMicroseconds(resolved.data.elapsedMs),
      observed_at: observedAt,
      limitations: [...limitations, ...blockedNote(resolved.data)],
    };
    return ok(result);
  },
  wakeIcmp,
);

// On a path that loses 40 % of the packets in the forward direction, one open port in forty loses four SYNs in a row.
const MOST_TRIES = 4;

const SILENCE =
  `A port is filtered with reason timeout when no handshake was answered within ${ONE_SYN_MS} ms. ` +
  "A path with a longer round trip looks the same: the system would send a second SYN after 1 s.";

type Tried = Awaited<ReturnType<Net["tcp"]["probe"]>> & { readonly tries: number };

const ACTIONS: Readonly<
  Record<PingParams["action"], (net: Net, address: Address, params: PingParams) => Promise<Outcome<Part>>>
> = {
  ping: pingOnce,
  ports: checkPorts,
  traceroute: traceRoute,
};

function needsRaw({ action, protocol }: PingParams): boolean {
  return action === "traceroute" || (action === "ping" && protocol !== "tcp");
}

/**
 * Pings by ICMP if the agent can send it and nothing else was requested. Otherwise pings by TCP on port 443, then 80.
 */
async function pingOnce(net: Net, address: Address, params: PingParams): Promise<Outcome<Part>> {
  if (params.protocol === "tcp" || (params.protocol === undefined && params.port !== undefined)) {
    return pingByTcp(net, address, params, []);
  }
  if (params.protocol === "icmp" || hasRaw(net, address)) return pingByIcmp(net, address, params);
  return pingByTcp(net, address, params, [
    `This probe cannot send ICMP over IPv${address.version}, so it measured TCP handshakes. size and ttl do not apply to them.`,
  ]);
}

/** Pings by ICMP echoes. Failures are the probe's. A host that never answers is a result. */
async function pingByIcmp(net: Net, address: Address, params: PingParams): Promise<Outcome<Part>> {
  const schedule = scheduleEchoes(params.count, params.interval_ms, net.remainingMs() - RESERVE_MS);
  if (schedule === null) return failed("dns", "resolver", "timeout", "the name lookup took all of the check's time");
  const run = await net.icmp.echo(
    {
      ip: address.ip,
      count: schedule.count,
      intervalMs: params.interval_ms,
      size: params.size,
      ttl: params.ttl,
      timeoutMs: schedule.waitMs,
    },
    (reply) => net.emit({ kind: "reply", data: rowOf(reply) }),
  );
  if (run.status !== "ok") return run;
  const limitations = [
    ...schedule.limitations,
    ...(address.version === 6 ? ["Raw IPv6 sockets do not show the hop limit of a reply, so ttl is null."] : []),
  ];
  return ok({
    fields: {
      method: "icmp",
      port: null,
      ...summarize(schedule.count, run.data.replies.map(rowOf)),
      clock_error_ms: toMicroseconds(run.data.clockErrorMs),
    },
    limitations,
  });
}

function rowOf({ seq, rttMs, ttl, status, code, from }: EchoReply): PingReply {
  return {
    seq,
    rtt_ms: rttMs === null ? null : toMicroseconds(rttMs),
    ttl,
    status,
    ...(code === undefined ? {} : { code }),
    ...(from === undefined ? {} : { from }),
  };
}

/**
 * Checks the state of all ports at the same time. A port that does not answer is tried again on a new connection,
 * because a lost SYN does not prove a filter; each time is that of one handshake. If every port met a failure of the
 * probe, the check fails with stage connect (probeFault).
 */
async function checkPorts(net: Net, address: Address, params: PingParams): Promise<Outcome<Part>> {
  const ports = await Promise.all(
    (params.ports ?? []).map(async (port): Promise<PortRow> => {
      const { state, rttMs, reason, tries } = await tryPort(net, address.ip, port);
      const rtt = rttMs === null ? null : toMicroseconds(rttMs);
      const row = { port, state, service: usualService(port), rtt_ms: rtt, reason, tries };
      net.emit({ kind: "port", data: row });
      return row;
    }),
  );
  const faults = ports.map(({ reason }) => probeFault(reason));
  const [fault] = faults;
  if (fault !== null && fault !== undefined && faults.every((each) => each !== null)) return fault;
  return ok({ fields: { ports }, limitations: ports.some(({ reason }) => reason === "timeout") ? [SILENCE] : [] });
}

async function tryPort(net: Net, ip: string, port: number): Promise<Tried> {
  for (let tries = 1; ; tries += 1) {
    const probed = await net.tcp.probe(ip, port, Math.max(1, net.remainingMs() - RESERVE_MS));
    const isOver = tries === MOST_TRIES || net.remainingMs() - RESERVE_MS < ONE_SYN_MS;
    if (probed.reason !== "timeout" || isOver) return { ...probed, tries };
  }
}
