import type { Outcome } from "#shared/contracts/outcome.ts";
import type { TlsObservation, TlsRequest } from "#probe-agent/port/tls.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { HTTP_ALPN } from "#probe-agent/tools/ssl/http.ts";

/**
 * Performs a handshake with the ALPN names of a browser. If the server refuses them, as some servers of other protocols
 * do, performs it again without ALPN.
 */
export async function inspectServer(net: Net, request: Omit<TlsRequest, "alpn">): Promise<Outcome<TlsObservation>> {
  const outcome = await net.tls.inspect({ ...request, alpn: HTTP_ALPN });
  const refusesAlpn = outcome.status === "failed" && outcome.reason === "no_application_protocol";
  return refusesAlpn ? net.tls.inspect(request) : outcome;
}
