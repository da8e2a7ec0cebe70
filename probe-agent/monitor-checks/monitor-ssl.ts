import { unredacted } from "#shared/text/redact.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import { failed, ok } from "#shared/contracts/outcome.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorSsl as contract } from "#shared/monitor-checks/monitor-ssl.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { reportChain } from "#probe-agent/analysis/tls/ssl/chain.ts";
import { reportRevocation, type RevocationReport } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import { readServerChain, type ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { judgeChain } from "#probe-agent/monitor-checks/server-trust.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";
import { keepRevocation, keptRevocation } from "#probe-agent/sources/kept-revocation.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { firstThatConnects } from "#probe-agent/tools/ssl/connect.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";

/** Part of the time that is kept for revocation and the answer, in milliseconds. */
const RESERVE_MS = 300;

/**
 * Makes one handshake and judges the certificate like the ssl tool. Whether it is revoked is asked once an hour, and for
 * every whole result. A server without a certificate is a failure.
 */
export const monitorSsl = implement(contract, async (net, params) => {
  const { host, port } = params;
  const startedAt = net.monotonic();
  const now = net.now();
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const servername = literalFamily(host) === null ? host : null;
  const { address, outcome } = await firstThatConnects(net, resolved.data, { port, servername }, RESERVE_MS);
  if (outcome.status !== "ok") return outcome;
  const responseMs = net.monotonic() - startedAt;
  const observation = outcome.data;
  const chain = readServerChain(observation.sent, { host, roots: net.tls.roots(), now });
  if (chain === null) return failed("tls", "target", "malformed_certificate", "the certificate cannot be parsed");
  const revocation = await examineRevocation(net, chain, observation.ocspStaple, params.always_whole);
  const place = { host, ip: address.ip, addresses: resolved.data.allowed.length };
  const trust = judgeChain(chain, place, revocation, now, unredacted);
  const fault = trust.fault ?? handshakeFault(observation);
  return ok(
    await answerWith({ fault, responseMs, httpStatus: null, phases: null, certificate: chain.leaf.der }, params, () => {
      const verdict = { trusted: trust.trusted, trust_error: trust.error, revocation: revocation.revocation };
      const protocol = observation.protocol ?? observation.serverVersion;
      return Promise.resolve({ host, port, ip: address.ip, protocol, ...describe(chain, now), ...verdict });
    }),
  );
});

/** Asks the authorities if no answer is kept, and in any case if `isAsked`. Another stapled response is another question. */
async function examineRevocation(
  net: Net,
  chain: ServerChain,
  staple: Uint8Array | null,
  isAsked: boolean,
): Promise<RevocationReport> {
  const now = net.now();
  const about = [...chain.verification.path.map(({ der }) => der), ...(staple === null ? [] : [staple])];
  const ask = () => checkRevocation(net, chain, staple, RESERVE_MS);
  if (!isAsked) return keptRevocation(about, { now, waitMs: net.remainingMs() - RESERVE_MS, ask });
  const facts = await ask();
  keepRevocation(about, facts, now);
  return reportRevocation(facts, staple !== null);
}

/** A server that only asks for a certificate of the client is as it should be. */
function handshakeFault({ error, clientCertificateRequested }: TlsObservation): MonitorFault | null {
  if (error === null || clientCertificateRequested) return null;
  return { stage: "tls", reason: error.reason, message: error.message };
}

function describe({ leaf, sent, verification }: ServerChain, now: Date) {
  return {
    certificate: describeCertificate(leaf, now),
    chain: reportChain(sent, verification.path, now).rows,
    hostname_match: verification.hostname_match,
  };
}
