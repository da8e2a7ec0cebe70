import { keyFacts, type KeyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { SslFacts } from "#probe-agent/analysis/tls/ssl.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TlsObservation, TlsRequest } from "#probe-agent/port/tls.ts";
import { fetchHsts, probeHttpAlpn } from "#probe-agent/tools/ssl/http.ts";
import { createProber, type ProbeTarget } from "#probe-agent/tools/ssl/prober.ts";
import { surveyServer } from "#probe-agent/tools/ssl/survey.ts";

/** Time reserved for the report. */
const REPORT_MS = 1000;
/** Limits of the time for one question, which is ten times the usual time. */
const MIN_QUESTION_MS = 2500;
const MAX_QUESTION_MS = 5000;
/**
 * Maximum number of connections for lists of suites. A server with all suites of OpenSSL needs 146; an ordinary web
 * server needs 75 for lists and features together.
 */
const LIST_CONNECTIONS = 150;
/** Maximum number of connections for groups, order and features. */
const FEATURE_CONNECTIONS = 60;
const HTTPS = 443;

/** Probes a server after the first handshake: configuration, HSTS, ALPN and other certificates. */
export async function probeServer(
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
  const key = keyOf(observation);
  const speaksHttp = port === HTTPS || observation.alpn !== null;
  const [configuration, hsts, httpAlpn, otherSent] = await Promise.all([
    surveyServer(probers, curveOf(key)),
    fetchHsts(net, { host, port, speaksHttp }, questionMs),
    probeHttpAlpn(net, request, observation),
    probeOtherCertificate(net, request, key),
  ]);
  return { configuration: withHandshake(configuration, observation), hsts, httpAlpn, otherSent };
}

/** Estimates the time of a connection with one hello from the first handshake, in milliseconds. */
function usualTime({ connectMs, handshakeMs }: TlsObservation): number {
  return connectMs + (handshakeMs ?? connectMs);
}

function questionTime(observation: TlsObservation): number {
  return Math.min(MAX_QUESTION_MS, Math.max(MIN_QUESTION_MS, 10 * usualTime(observation)));
}

/** Marks the version of the completed handshake as offered, even if its hello was not answered. */
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

function keyOf({ sent: [leaf] }: TlsObservation): KeyFacts | null {
  const certificate = leaf === undefined ? null : parseCertificate(leaf);
  return certificate === null ? null : keyFacts(certificate);
}

/** Returns the number of the group of an EC key; null for other keys. */
function curveOf(key: KeyFacts | null): number | null {
  return GROUPS.values().find(({ name }) => name === key?.curve)?.code ?? null;
}

/**
 * Returns the certificates sent to a client that accepts only the other one of RSA and ECDSA; empty if the server
 * refuses, null if unknown.
 */
async function probeOtherCertificate(
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
