import { literalFamily } from "#shared/egress/addresses.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { daysLeft, lifetimeMs } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isStrongKey, isWeakSignature, keyFacts, signatureName } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { TlsFacts } from "#probe-agent/analysis/site/health/snapshot.ts";
import { unknown, type Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";
import { reportRevocation, type RevocationReport } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import { readServerChain, type ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { decideTrust } from "#probe-agent/analysis/tls/ssl/trust.ts";
import { inspectServer } from "#probe-agent/tools/ssl/inspect.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";
import { gatherSuites } from "#probe-agent/tools/health/suites.ts";

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
  const trust = decideTrust({ leaf, host: target.host, verification, revocation, now });
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
