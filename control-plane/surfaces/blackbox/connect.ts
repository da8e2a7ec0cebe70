import { splitHostPort } from "#shared/host-port.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ping } from "#shared/tools/ping.ts";
import { ssl } from "#shared/tools/ssl.ts";
import { certificateSamples } from "#control-plane/surfaces/blackbox/certificate.ts";
import { addressSamples, phaseSamples, type Sample } from "#control-plane/surfaces/blackbox/families.ts";
import { NO_PORT, type Module } from "#control-plane/surfaces/blackbox/module.ts";

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
      success: ports[0]?.state === "open",
      seconds: elapsed / 1000,
      samples: [...addressSamples(ip, resolve / 1000), REGEX],
    };
  },
  failure: [...addressSamples(null, 0), REGEX],
};

/** tls_connect: a handshake with a server whose certificate is good for the name. */
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
    const success = result.trusted && handshake !== null;
    const ends = chain.filter(({ sent }) => sent).map(({ not_after: end }) => end);
    return {
      success,
      seconds: (resolve + connect + (handshake ?? 0)) / 1000,
      samples: [
        ...addressSamples(result.ip, resolve / 1000),
        REGEX,
        // The exporter's client gives up on a bad certificate and then knows nothing of it.
        ...(success
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

/** icmp: an echo that comes back. */
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
      success,
      seconds: elapsed / 1000,
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

function earliest(times: readonly string[]): string {
  return new Date(Math.min(...times.map((time) => Date.parse(time)))).toISOString();
}
