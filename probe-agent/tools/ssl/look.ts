import { keyFacts, type KeyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { SslFacts } from "#probe-agent/analysis/tls/ssl.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TlsObservation, TlsRequest } from "#probe-agent/port/tls.ts";
import { seeHsts, seeHttpAlpn } from "#probe-agent/tools/ssl/http.ts";
import { createProber, type ProbeTarget } from "#probe-agent/tools/ssl/prober.ts";
import { survey } from "#probe-agent/tools/ssl/survey.ts";

/** Left for the report when the asking ends. */
const REPORT_MS = 1000;
/** The longest any one question may take: ten times what is usual, within bounds. */
const MIN_QUESTION_MS = 2500;
const MAX_QUESTION_MS = 5000;
/**
 * Connections for lists of suites (a server with every suite OpenSSL knows takes 146), and for the rest. An ordinary
 * web server takes 75 in all.
 */
const LIST_CONNECTIONS = 150;
const FEATURE_CONNECTIONS = 60;
const HTTPS = 443;

/** What there is to see of a server beside its first handshake. */
export async function lookAround(
  net: Net,
  target: ProbeTarget & { readonly host: string },
  observation: TlsObservation,
): Promise<Pick<SslFacts, "configuration" | "hsts" | "httpAlpn" | "otherSent">> {
  const { host, ip, port, servername } = target;
  const left = Math.max(0, net.remainingMs() - REPORT_MS);
  const questionMs = Math.min(left, questionTime(observation));
  const bounds = { until: net.monotonic() + left, questionMs, usualMs: usualTime(observation) };
  const probers = {
    lists: createProber(net, { ip, port, servername }, { ...bounds, connections: LIST_CONNECTIONS }),
    features: createProber(net, { ip, port, servername }, { ...bounds, connections: FEATURE_CONNECTIONS }),
  };
  const request = { ip, port, servername, timeoutMs: questionMs };
  const key = ownKey(observation);
  const speaksHttp = port === HTTPS || observation.alpn !== null;
  const [configuration, hsts, httpAlpn, otherSent] = await Promise.all([
    survey(probers, curveOf(key)),
    seeHsts(net, { host, port, speaksHttp }, questionMs),
    seeHttpAlpn(net, request, observation),
    seeOtherCertificate(net, request, key),
  ]);
  return { configuration: withHandshake(configuration, observation), hsts, httpAlpn, otherSent };
}

/** What a connection with a hello takes at most, by the first handshake: one round trip of each, or two. */
function usualTime({ connectMs, handshakeMs }: TlsObservation): number {
  return connectMs + (handshakeMs ?? connectMs);
}

function questionTime(observation: TlsObservation): number {
  return Math.min(MAX_QUESTION_MS, Math.max(MIN_QUESTION_MS, 10 * usualTime(observation)));
}

/** A version that a whole handshake agreed on is offered, whatever the hellos came to. */
function withHandshake(
  configuration: SslFacts["configuration"],
  { protocol }: TlsObservation,
): SslFacts["configuration"] {
  const missed = configuration.versions.find(({ version, offered }) => version.name === protocol && offered !== true);
  if (missed === undefined) return configuration;
  const { version } = missed;
  return {
    ...configuration,
    versions: configuration.versions.map((seen) => (seen === missed ? { version, offered: true } : seen)),
    suites: [...configuration.suites, { version, codes: [], ranked: false, order: null, complete: false }].toSorted(
      (one, other) => one.version.wire - other.version.wire,
    ),
  };
}

function ownKey({ sent: [leaf] }: TlsObservation): KeyFacts | null {
  const certificate = leaf === undefined ? null : parseCertificate(leaf);
  return certificate === null ? null : keyFacts(certificate);
}

/** Number of the group an EC key lies in; null for other keys. */
function curveOf(key: KeyFacts | null): number | null {
  return GROUPS.values().find(({ name }) => name === key?.curve)?.code ?? null;
}

/** What is sent to a client that takes the other of RSA and ECDSA; [] where nothing is. */
async function seeOtherCertificate(
  net: Net,
  request: TlsRequest,
  key: KeyFacts | null,
): Promise<readonly Uint8Array[] | null> {
  if (key === null) return null;
  const outcome = await net.tls.inspect({ ...request, signedBy: key.type === "RSA" ? "ECDSA" : "RSA" });
  if (outcome.status === "ok") return outcome.data.sent;
  const refused = outcome.status === "failed" && outcome.stage === "tls" && outcome.source === "target";
  return refused && outcome.reason !== "timeout" ? [] : null;
}
