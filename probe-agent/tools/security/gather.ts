import { literalFamily } from "#shared/egress/addresses.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import type { PreloadEvidence } from "#probe-agent/analysis/web/security/preload.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Hop, PageSnapshot } from "#probe-agent/port/http.ts";
import type { WebPorts } from "#probe-agent/tools/health.ts";

/** Timeout of each additional request, in milliseconds. */
const PATIENCE_MS = 6000;
/** An origin that belongs to no one (RFC 2606). */
const ORIGIN = "https://evil.example";

/** Reports whether every TLS server of the redirect chain has a certificate that browsers trust. */
export function isVerified(page: PageSnapshot): boolean {
  return page.hops.every((hop) => hop.tls === null || hop.tls.authorized);
}

/** Sends a preflight with a foreign origin, as MDN does. Returns null if there is no response. */
export async function gatherCors(net: Net, url: string): Promise<SecuritySnapshot["cors"]> {
  const fetched = await net.http.fetch({
    url,
    method: "OPTIONS",
    headers: [
      ["Origin", ORIGIN],
      ["Access-Control-Request-Method", "GET"],
    ],
    follow: false,
    maxBodyBytes: 0,
    verifiesSentChain: false,
    timeoutMs: PATIENCE_MS,
  });
  return fetched.status === "ok" ? { origin: ORIGIN, headers: fetched.data.final.headers } : null;
}

/** Requests the registrable domain of a page over https:// and http://. Reuses a response of the page's own chain. */
export async function gatherPreload(net: Net, page: PageSnapshot, ports: WebPorts): Promise<PreloadEvidence> {
  const host = new URL(page.finalUrl).hostname.replace(/^\[|\]$/g, "");
  const domain = literalFamily(host) === null ? registrableDomain(host) : null;
  if (domain === null) return { domain, https: null, http: null };
  const [https, http] = await Promise.all([fetchSecure(net, page, domain, ports), fetchPlain(net, domain, ports)]);
  return { domain, https, http };
}

async function fetchSecure(
  net: Net,
  page: PageSnapshot,
  domain: string,
  ports: WebPorts,
): Promise<PreloadEvidence["https"]> {
  const seen = page.hops.find(({ url }) => url.startsWith("https:") && new URL(url).hostname === domain);
  if (seen !== undefined) return secureFacts(seen);
  const fetched = await fetchFirst(net, `https://${domain}:${ports.https}/`);
  if (fetched.status === "ok") return secureFacts(fetched.data.final);
  return fetched.status === "failed" && fetched.source === "target" ? { answered: false } : null;
}

function secureFacts({ tls, headers }: Hop): PreloadEvidence["https"] {
  return {
    answered: true,
    verified: tls?.authorized === true,
    hsts: headerValues(headers, "strict-transport-security"),
  };
}

async function fetchPlain(net: Net, domain: string, ports: WebPorts): Promise<PreloadEvidence["http"]> {
  const fetched = await fetchFirst(net, `http://${domain}:${ports.http}/`);
  if (fetched.status === "ok") {
    const { code, location } = fetched.data.final;
    return { open: true, location: code >= 300 && code < 400 ? location : null };
  }
  const closed = fetched.status === "failed" && fetched.stage === "connect" && fetched.source === "target";
  return closed ? { open: false } : null;
}

function fetchFirst(net: Net, url: string) {
  return net.http.fetch({ url, method: "GET", follow: false, maxBodyBytes: 0, timeoutMs: PATIENCE_MS });
}
