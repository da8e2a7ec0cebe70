import { isIP } from "node:net";
import { isSameOctets } from "#shared/text/same-octets.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { leafFaults } from "#probe-agent/analysis/tls/certificate/policy.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import { dial, type DialLimits } from "#probe-agent/net/http/dial.ts";
import type { Trust } from "#probe-agent/net/http/secure.ts";
import type { Address } from "#probe-agent/port/address.ts";
import type { HopTls } from "#probe-agent/port/http.ts";
import { readFlight } from "#probe-agent/net/tls/flight.ts";
import { handshake } from "#probe-agent/net/tls/session.ts";

/** Maximum duration of the second handshake, in milliseconds. */
const SECOND_HANDSHAKE_MS = 3000;

/**
 * Reports whether an untrusted chain may be trusted through a certificate that Node does not show: Node links only the
 * first of several issuers with the same name. Returns false if the server's own certificate has a fault.
 */
export function mayHaveHiddenPath({ authorized, chain }: HopTls, { now }: Trust): boolean {
  const [leaf] = chain;
  if (authorized || leaf === undefined || chain.length < 2) return false;
  const certificate = parseCertificate(leaf);
  return certificate !== null && leafFaults(certificate, now(), false).length === 0;
}

/**
 * Verifies all certificates that the server sends, read from a second handshake. Returns the session unchanged if that
 * fails or finds no trusted path.
 */
export async function verifySentChain(
  tls: HopTls,
  to: { readonly address: Address; readonly port: number; readonly host: string },
  context: DialLimits & { readonly trust: Trust },
): Promise<HopTls> {
  const { address, port, host } = to;
  const { clock, trust } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(SECOND_HANDSHAKE_MS)]);
  const dialed = await dial([address], port, { ...context, signal });
  if (dialed.status !== "ok") return tls;
  const servername = isIP(host) === 0 ? host : null;
  const request = { servername, ...(tls.alpn === null ? {} : { alpn: [tls.alpn] }) };
  const options = { signal, monotonic: () => clock.monotonic(), waitsForRefusal: () => false };
  const { received, secret } = await handshake(dialed.data.socket, request, options);
  const { certificates } = readFlight(received, secret);
  const [leaf, ...intermediates] = certificates;
  // A server with several certificates can send a different one the second time.
  if (leaf === undefined || tls.chain[0] === undefined || !isSameOctets(leaf, tls.chain[0])) return tls;
  const verification = verifyServerChain({ leaf, intermediates, roots: trust.roots, host, now: trust.now() });
  if (!verification.trusted) return tls;
  const path = verification.path.map(({ der }) => der);
  const error = verification.errors[0] ?? null;
  return { ...tls, authorized: error === null, error, chain: certificates, path };
}
