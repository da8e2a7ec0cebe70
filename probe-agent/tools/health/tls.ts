import { unredacted } from "#shared/text/redact.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { daysLeft, lifetimeMs } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isStrongKey, isWeakSignature, keyFacts, signatureName } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { TlsFacts } from "#probe-agent/analysis/site/snapshot.ts";
import { unknown, type Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";
import { reportRevocation, type RevocationReport } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import { readServerChain, type ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { decideTrust } from "#probe-agent/analysis/tls/ssl/trust.ts";
import { inspectServer } from "#probe-agent/tools/ssl/inspect.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";
import type { SuiteFacts } from "#probe-agent/analysis/site/ciphers.ts";
import { fewSuites, suitesByFault, VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { isOpen } from "#probe-agent/analysis/tls/ssl/configuration-findings.ts";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { isConclusive } from "#probe-agent/tools/ssl/elimination.ts";
import { createProber, type Prober, type ProbeTarget } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, probeVersion, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** Server whose TLS is checked. */
export interface TlsTarget {
  /** Host name or IP literal without brackets. */
  readonly host: string;
  readonly port: number;
  /** Allowed address of the host. */
  readonly ip: string;
  /** Whether the page was served over this TLS endpoint. A failure now then says nothing about the site. */
  readonly seen: boolean;
}

const HANDSHAKE_MS = 8000;
/** Maximum time, in milliseconds. With the handshake it is within the time for one part of health. */
const REVOCATION_MS = 6000;
const DAY_MS = 86_400_000;
const NOT_OFFERED = {
  known: true,
  offered: false,
  trusted: false,
  errors: [],
  reasons: [],
  revocationLimits: [],
  daysLeft: 0,
  lifetimeDays: 0,
  key: "",
  keyStrong: false,
  signatureStrong: false,
  versions: { ssl3: null, below1_2: null, tls1_2: null, tls1_3: null },
  suites: { known: false, why: "There is no TLS." },
} as const;

/** Maximum number of connections. A server with every version needs 21; the others are for second attempts. */
const CONNECTIONS = 40;
const QUESTION_MS = 2500;
/**
 * Maximum time, in milliseconds. With the first handshake (at most 8 s) it is within the time for one part of health.
 */
const TOTAL_MS = 6000;

type Fault = keyof Omit<SuiteFacts, "known" | "open">;
const FAULTS: readonly Fault[] = ["broken", "fixed", "cbc"];

/** Result for a question without an answer. No suite has this name. */
const NO_ANSWER = "no answer";

/** Gathers the certificate by one handshake, then versions and suites by further hellos. */
export async function gatherTls(net: Net, target: TlsTarget): Promise<TlsFacts | Unknown> {
  const servername = literalFamily(target.host) === null ? target.host : null;
  const { ip, port } = target;
  const outcome = await inspectServer(net, { ip, port, servername, timeoutMs: HANDSHAKE_MS });
  if (outcome.status === "failed") {
    const ours = outcome.source !== "target" || target.seen;
    const why = `Port ${target.port}: ${outcome.message}.`;
    return ours ? unknown(why) : { ...NOT_OFFERED, why };
  }
  if (outcome.status !== "ok") return unknown("Connections to the host's address are not allowed.");
  const observation = outcome.data;
  const now = net.now();
  const chain = readServerChain(observation.sent, { host: target.host, roots: net.tls.roots(), now });
  if (chain === null) return unknown("The server's certificate cannot be parsed.");
  const [revocation, configured] = await Promise.all([
    askRevocation(net, chain, observation),
    gatherSuites(net, { ip, port, servername }, observation),
  ]);
  const { leaf, verification } = chain;
  const trust = decideTrust({ leaf, host: target.host, verification, revocation, now, redact: unredacted });
  return {
    ...NOT_OFFERED,
    offered: true,
    why: "",
    trusted: trust.trusted,
    errors: trust.errors,
    reasons: trust.findings,
    revocationLimits: revocation.limitations,
    ...certificateFacts(leaf, now),
    ...configured,
  };
}

/** Checks whether the certificate was revoked, as the ssl tool does, within REVOCATION_MS. */
async function askRevocation(
  net: Net,
  chain: ServerChain,
  { ocspStaple: staple }: TlsObservation,
): Promise<RevocationReport> {
  const reserveMs = Math.max(0, net.remainingMs() - REVOCATION_MS);
  const late = { staple: null, responder: null, list: null, authorities: [], notAsked: "the check took too long" };
  const facts = await waitAtMost(REVOCATION_MS, checkRevocation(net, chain, staple, reserveMs), late);
  return reportRevocation(facts, staple !== null);
}

function certificateFacts(certificate: Certificate, now: Date) {
  const { type, bits } = keyFacts(certificate);
  return {
    daysLeft: daysLeft(certificate, now),
    lifetimeDays: lifetimeMs(certificate) / DAY_MS,
    key: `${type} ${bits ?? "?"}, ${signatureName(certificate)}`,
    keyStrong: isStrongKey(certificate),
    signatureStrong: !isWeakSignature(certificate),
  };
}

/**
 * Finds the versions that the server offers, and for each whether it accepts a suite with each fault. Asks one question
 * for each fault, not for each suite.
 */
async function gatherSuites(
  net: Net,
  target: ProbeTarget,
  { protocol }: TlsObservation,
): Promise<Pick<TlsFacts, "versions" | "suites">> {
  const until = net.monotonic() + Math.min(TOTAL_MS, net.remainingMs());
  const bounds = { connections: CONNECTIONS, until, questionMs: QUESTION_MS, usualMs: 0 };
  const prober = createProber(net, target, bounds);
  const seen = await Promise.all(VERSIONS.map((version) => probeVersion(prober, version)));
  const offers = ({ version, offered }: VersionSeen): boolean | null => (protocol === version.name ? true : offered);
  const offeredByKey = new Map(seen.map((one) => [one.version.key, offers(one)]));
  const old = new Set([offeredByKey.get("ssl3"), offeredByKey.get("tls1_0"), offeredByKey.get("tls1_1")]);
  return {
    versions: {
      ssl3: offeredByKey.get("ssl3") ?? null,
      below1_2: old.has(true) ? true : old.has(null) ? null : false,
      tls1_2: offeredByKey.get("tls1_2") ?? null,
      tls1_3: offeredByKey.get("tls1_3") ?? null,
    },
    suites: await findFaults(
      prober,
      seen.filter((one) => one.hello !== null),
    ),
  };
}

/**
 * Finds the most severe fault, regardless of questions without an answer. If no fault was found and a question has no
 * answer, the suites are unknown.
 */
async function findFaults(prober: Prober, offered: readonly VersionSeen[]): Promise<SuiteFacts | Unknown> {
  const noAnswer = unknown("The cipher suites are unknown, because the server did not answer.");
  if (offered.length === 0) return noAnswer;
  const found: Record<Fault, string | null> = { broken: null, fixed: null, cbc: null };
  for (const fault of FAULTS) {
    const answers = await Promise.all(
      offered.map((seen) => findAccepted(prober, seen, suitesByFault(seen.version)[fault])),
    );
    found[fault] = answers.find((answer) => answer !== null && answer !== NO_ANSWER) ?? null;
    if (found[fault] !== null) break;
    if (answers.includes(NO_ANSWER)) return noAnswer;
  }
  const open = SUITES.values().some((suite) => suite.name === found.broken && isOpen(suite));
  return { known: true, open, ...found };
}

/** Returns the name of the suite that the server accepts, null if it accepts none, or NO_ANSWER. */
async function findAccepted(prober: Prober, seen: VersionSeen, suites: readonly number[]): Promise<string | null> {
  const few = fewSuites(seen.version);
  const list = seen.short ? suites.filter((code) => few.includes(code)) : suites;
  if (list.length === 0) return null;
  const hello = helloFor(seen, prober.servername, list);
  const first = await prober.ask(hello);
  const answer = isConclusive(first) ? first : await prober.ask(hello);
  if (answer.kind === "silent") return NO_ANSWER;
  if (answer.kind === "refused" || !list.includes(answer.hello.suite)) return null;
  return SUITES.get(answer.hello.suite)?.name ?? null;
}
