import { literalFamily } from "#shared/egress/addresses.ts";
import { verifyServer } from "#probe-agent/analysis/tls/certificate/server.ts";
import { daysLeft, lifetimeMs } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isStrongKey, isWeakSignature, keyFacts, signatureName } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { TlsFacts } from "#probe-agent/analysis/site/health/snapshot.ts";
import { unknown, type Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { gatherSuites } from "#probe-agent/tools/health/suites.ts";

/** Where TLS is looked for. */
export interface TlsTarget {
  /** Name or literal without brackets. */
  readonly host: string;
  readonly port: number;
  /** A vetted address of it. */
  readonly ip: string;
  /** The page came over this very TLS, so a failure now says nothing about the site. */
  readonly seen: boolean;
}

const HANDSHAKE_MS = 8000;
const DAY_MS = 86_400_000;
const NOT_OFFERED = {
  known: true,
  offered: false,
  trusted: false,
  hostnameMatch: false,
  errors: [],
  daysLeft: 0,
  lifetimeDays: 0,
  key: "",
  keyStrong: false,
  signatureStrong: false,
  versions: { ssl3: null, below1_2: null, tls1_2: null, tls1_3: null },
  suites: { known: false, why: "There is no TLS." },
} as const;

/** One handshake for the certificate, then hellos for versions and suites. */
export async function gatherTls(net: Net, target: TlsTarget): Promise<TlsFacts | Unknown> {
  const servername = literalFamily(target.host) === null ? target.host : null;
  const { ip, port } = target;
  const request = { ip, port, servername, alpn: ["h2", "http/1.1"], timeoutMs: HANDSHAKE_MS };
  const outcome = await net.tls.inspect(request);
  if (outcome.status === "failed") {
    const ours = outcome.source !== "target" || target.seen;
    const why = `Port ${target.port}: ${outcome.message}.`;
    return ours ? unknown(why) : { ...NOT_OFFERED, why };
  }
  if (outcome.status !== "ok") return unknown("The host's address may not be contacted.");
  const observation = outcome.data;
  const [leaf, ...intermediates] = observation.sent;
  const certificate = leaf === undefined ? null : parseCertificate(leaf);
  if (leaf === undefined || certificate === null) return unknown("The server's certificate cannot be read.");
  const now = net.now();
  const verdict = verifyServer({ leaf, intermediates, roots: net.tls.roots(), host: target.host, now });
  return {
    ...NOT_OFFERED,
    offered: true,
    why: "",
    trusted: verdict.trusted,
    hostnameMatch: verdict.hostname_match,
    errors: verdict.errors,
    ...certificateFacts(certificate, now),
    ...(await gatherSuites(net, { ip, port, servername }, observation)),
  };
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
