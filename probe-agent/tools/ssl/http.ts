import { literalFamily } from "#shared/egress/addresses.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TlsObservation, TlsRequest } from "#probe-agent/port/tls.ts";

/** ALPN names that a web browser offers. */
export const HTTP_ALPN = ["h2", "http/1.1"];

/**
 * Returns the HTTP versions that the server accepts by ALPN: one is known from the first handshake, the other is
 * offered alone. Returns null if unknown.
 */
export async function probeHttpAlpn(
  net: Net,
  request: TlsRequest,
  { alpn, protocol }: TlsObservation,
): Promise<string[] | null> {
  if (protocol === null) return null;
  if (alpn === null) return [];
  const others = HTTP_ALPN.filter((name) => name !== alpn);
  const taken = await Promise.all(
    others.map(async (name) => {
      const outcome = await net.tls.inspect({ ...request, alpn: [name] });
      if (outcome.status === "ok") return outcome.data.alpn === name;
      const refusal = outcome.status === "failed" && outcome.stage === "tls" && outcome.source === "target";
      return refusal && outcome.reason !== "timeout" ? false : null;
    }),
  );
  if (taken.includes(null)) return null;
  return HTTP_ALPN.filter((name) => name === alpn || taken[others.indexOf(name)] === true);
}

/** Fetches Strict-Transport-Security of the page at / if the server is a web server. */
export async function fetchHsts(
  net: Net,
  where: { readonly host: string; readonly port: number; readonly speaksHttp: boolean },
  timeoutMs: number,
): Promise<HstsSeen> {
  const { host, port, speaksHttp } = where;
  if (literalFamily(host) !== null) {
    return { kind: "not_applicable", why: "HSTS was not checked: it applies only to host names, not to addresses." };
  }
  if (!speaksHttp) {
    return {
      kind: "not_applicable",
      why: "HSTS was not checked: the server does not offer HTTP by ALPN on this port.",
    };
  }
  const url = `https://${host}:${port}/`;
  const fetched = await net.http.fetch({ url, method: "GET", follow: false, maxBodyBytes: 1, timeoutMs });
  if (fetched.status !== "ok") {
    const why = fetched.status === "failed" ? fetched.message : "The rules on targets do not allow the request";
    return { kind: "unknown", why: `Whether the server sends HSTS could not be determined. ${why}.` };
  }
  const [value] = headerValues(fetched.data.final.headers, "strict-transport-security");
  return value === undefined ? { kind: "absent" } : { kind: "sent", value };
}
