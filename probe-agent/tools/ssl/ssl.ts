import { literalFamily } from "#shared/egress/addresses.ts";
import { failed, ok } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ssl as contract } from "#shared/tools/ssl/contract.ts";
import { sslReport, type SslFacts } from "#probe-agent/tools/ssl/report.ts";
import { readServerChain, type ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { Address, Resolved } from "#probe-agent/port/address.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { firstThatConnects } from "#probe-agent/tools/ssl/connect.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { certifiedName, nameAndParents, type CaaRow } from "#probe-agent/tools/ssl/caa.ts";
import type { CaaSeen, NamesFacts } from "#probe-agent/tools/ssl/names.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { createLookUp } from "#probe-agent/sources/dns-look-up.ts";
import { lookUpTlsa, type TlsaAnswer } from "#probe-agent/tools/dns/tlsa.ts";
import { fewSuites, helloOf, VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { ClientHello, TlsObservation, TlsRequest } from "#probe-agent/port/tls.ts";
import { type ProbeTarget, createProber } from "#probe-agent/tools/ssl/prober.ts";
import { keyFacts, type KeyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { fetchHsts, probeHttpAlpn } from "#probe-agent/tools/ssl/http.ts";
import { surveyServer } from "#probe-agent/tools/ssl/survey.ts";

type Result = ResultOf<typeof contract>;

/** Time reserved for the steps after the first handshake. */
const RESERVE_MS = 1500;

/** Time limit for DNS answers and their validation. */
const LOOK_UP_MS = 8000;
const LATE_TLSA: TlsaAnswer = {
  status: "unknown",
  reason: "the TLSA records could not be validated in time",
  records: [],
};
const LATE_CAA: CaaSeen = { rows: null, why: "no answer in time" };

const TIMESTAMPS_MS = 5000;

/**
 * Groups offered: first those of our key shares, then others for servers of old versions. Stronger groups are omitted,
 * because some servers would request a key share for them.
 */
const OFFERED_GROUPS = [0x001d, 0x0017, 0x0018, 0x0019];

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

/** Looks up TLSA records of the port and CAA records of the name. Returns null for an address. */
async function lookUpNames(
  net: Net,
  { host, port }: { readonly host: string; readonly port: number },
  { leaf }: ServerChain,
  reserveMs: number,
): Promise<NamesFacts | null> {
  if (literalFamily(host) !== null) return null;
  const limitMs = Math.max(0, Math.min(LOOK_UP_MS, net.remainingMs() - reserveMs));
  const { name, wildcard } = certifiedName(host, leaf);
  const [tlsa, caa] = await Promise.all([
    waitAtMost(limitMs, lookUpTlsa(net, host, port), LATE_TLSA),
    waitAtMost(limitMs, lookUpCaa(net, name), LATE_CAA),
  ]);
  return { tlsa, caa, wildcard };
}

/** Returns the nearest records at or above the name (RFC 8659 section 3). All levels are asked in parallel. */
async function lookUpCaa(net: Net, name: string): Promise<CaaSeen> {
  const lookUp = createLookUp(net);
  const levels = nameAndParents(name);
  const found = await Promise.all(levels.map((level) => lookUp(level, "CAA")));
  for (const [index, { state, status, records }] of found.entries()) {
    const level = levels[index] ?? name;
    if (state === "unknown") return { rows: null, why: `${level}: ${status}` };
    if (state === "records") return { rows: records.map((record) => toRow(level, record)), why: null };
  }
  return { rows: [], why: null };
}

function toRow(name: string, { typed }: DnsRecord): CaaRow {
  const textOf = (field: string): string => (typeof typed[field] === "string" ? typed[field] : "");
  return { name, critical: typed["critical"] === true, tag: textOf("tag").toLowerCase(), value: textOf("value") };
}

/** Requests timestamps in the TLS extension, which Node's client never does. Returns null if there are none. */
async function requestTimestamps(
  net: Net,
  { ip, port, servername }: ProbeTarget,
  reserveMs: number,
): Promise<Uint8Array | null | "unknown"> {
  const timeoutMs = Math.min(TIMESTAMPS_MS, net.remainingMs() - reserveMs);
  if (timeoutMs <= 0) return "unknown";
  const outcome = await net.tls.timestamps({ ...helloOfAll(servername), ip, port, timeoutMs });
  return outcome.status === "ok" ? outcome.data : "unknown";
}

/** Creates one hello with all versions except SSL 3 and with common suites. */
function helloOfAll(servername: string | null): ClientHello {
  const offered = VERSIONS.slice(1).toReversed();
  const [newest] = offered;
  if (newest === undefined) throw new Error("no version is known");
  const suites = [...new Set(offered.flatMap(fewSuites))];
  const hello = helloOf(newest, servername, suites);
  const supportedVersions = offered.map(({ wire }) => wire);
  return { ...hello, supportedVersions, groups: OFFERED_GROUPS, renegotiationInfo: true };
}

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
async function probeServer(
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
