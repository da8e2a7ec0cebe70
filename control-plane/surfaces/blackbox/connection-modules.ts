import { splitHostPort } from "#shared/internet/host-port.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ping, type PortRow } from "#shared/tools/ping/contract.ts";
import { ssl } from "#shared/tools/ssl/contract.ts";
import { certificateSamples } from "#control-plane/surfaces/blackbox/certificate-metrics.ts";
import { addressSamples, phaseSamples, type Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";
import { NO_PORT, targetFailure, type Cause, type Module } from "#control-plane/surfaces/blackbox/module.ts";

const NOWHERE = { host: "", port: null };

type Ping = ResultOf<typeof ping>;
type Ssl = ResultOf<typeof ssl>;

const REGEX: Sample = {
  name: "probe_failed_due_to_regex",
  help: "Indicates if probe failed due to regex",
  value: 0,
};
const ICMP_PHASES = "probe_icmp_duration_seconds";
const ICMP_PHASES_HELP = "Duration of icmp request by phase";

/** tcp_connect: the port accepts a connection. */
export const tcpConnect: Module = {
  name: "tcp_connect",
  contract: ping,
  call(target) {
    const { host, port } = splitHostPort(target) ?? NOWHERE;
    return host === "" || !port ? NO_PORT : { params: { host, action: "ports", ports: String(port) } };
  },
  report(data) {
    const { ip, ports = [], resolve_ms: resolve, elapsed_ms: elapsed } = data as Ping;
    return {
      failure: portFailure(ports[0]),
      seconds: Math.max(elapsed, resolve + (ports[0]?.rtt_ms ?? 0)) / 1000,
      samples: [...addressSamples(ip, resolve / 1000), REGEX],
    };
  },
  failure: [...addressSamples(null, 0), REGEX],
};

/** tls_connect: the handshake succeeds and the certificate is valid for the name. */
export const tlsConnect: Module = {
  name: "tls_connect",
  contract: ssl,
  call(target) {
    const { host, port } = splitHostPort(target) ?? NOWHERE;
    return host === "" || !port ? NO_PORT : { params: { host, port: String(port) } };
  },
  report(data) {
    const result = data as Ssl;
    const { certificate, chain, connect_ms: connect, handshake_ms: handshake, resolve_ms: resolve } = result;
    const failure = tlsFailure(result);
    const ends = chain.filter(({ sent }) => sent).map(({ not_after: end }) => end);
    return {
      failure,
      seconds: (resolve + connect + (handshake ?? 0)) / 1000,
      samples: [
        ...addressSamples(result.ip, resolve / 1000),
        REGEX,
        // The exporter's client stops at an invalid certificate and then has no data about it.
        ...(failure === null
          ? certificateSamples({
              protocol: result.protocol ?? "unknown",
              subject: certificate.subject,
              issuer: certificate.issuer,
              san: certificate.san,
              fingerprint: certificate.fingerprint_sha256,
              chainEnd: earliest([certificate.not_after, ...ends]),
              pathEnd: earliest([certificate.not_after, ...chain.map(({ not_after: end }) => end)]),
            })
          : []),
      ],
    };
  },
  failure: [...addressSamples(null, 0), REGEX],
};

/** icmp: an echo request gets a reply. */
export const icmp: Module = {
  name: "icmp",
  contract: ping,
  call: (target) => ({ params: { host: target, count: "1", protocol: "icmp" } }),
  report(data) {
    const { ip, replies = [], rtt, resolve_ms: resolve, elapsed_ms: elapsed } = data as Ping;
    const reply = replies.find(({ status }) => status === "ok" || status === "late");
    const rttMs = rtt?.min_ms ?? null;
    const success = reply !== undefined && rttMs !== null;
    return {
      failure: success ? null : targetFailure("response", replies[0]?.status ?? "timeout"),
      seconds: Math.max(elapsed, resolve + (rttMs ?? 0)) / 1000,
      samples: [
        ...addressSamples(ip, resolve / 1000),
        ...phaseSamples(ICMP_PHASES, ICMP_PHASES_HELP, {
          resolve: resolve / 1000,
          setup: success ? Math.max(0, elapsed - resolve - rttMs) / 1000 : 0,
          rtt: success ? rttMs / 1000 : 0,
        }),
        ...(typeof reply?.ttl === "number"
          ? [
              {
                name: "probe_icmp_reply_hop_limit",
                help: "Replied packet hop limit (TTL for ipv4)",
                value: reply.ttl,
              },
            ]
          : []),
      ],
    };
  },
  failure: [
    ...addressSamples(null, 0),
    ...phaseSamples(ICMP_PHASES, ICMP_PHASES_HELP, { resolve: 0, setup: 0, rtt: 0 }),
  ],
};

/** Returns why a port does not count as open, as the cause of a failed connection; null if it is open. */
function portFailure(row: PortRow | undefined): Cause | null {
  switch (row?.state) {
    case "open":
      return null;
    case "closed":
      return targetFailure("connect", "refused");
    default:
      return targetFailure("connect", row?.reason ?? "timeout");
  }
}

/** Returns the cause of a TLS failure. A certificate fault comes first: a verifying client stops there. */
function tlsFailure({
  trusted,
  trust_error: fault,
  handshake_ms: handshake,
  handshake_error: broken,
}: Ssl): Cause | null {
  if (!trusted) return targetFailure("tls", fault ?? "certificate");
  return handshake === null ? targetFailure("tls", broken?.reason ?? "handshake") : null;
}

function earliest(times: readonly string[]): string {
  return new Date(Math.min(...times.map((time) => Date.parse(time)))).toISOString();
}
