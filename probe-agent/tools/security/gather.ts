import { literalFamily } from "#shared/egress/addresses.ts";
import { registrableDomain } from "#shared/registrable-domain.ts";
import type { PreloadEvidence } from "#probe-agent/analysis/web/security/preload.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Hop, PageSnapshot } from "#probe-agent/port/http.ts";
import type { WebPorts } from "#probe-agent/tools/health.ts";

/** The wait for each request beside the page. */
const PATIENCE_MS = 6000;
/** An origin that is nobody's (RFC 2606). */
const ORIGIN = "https://evil.example";

/** Every TLS server on the way to the page had a certificate browsers trust. */
export function isVerified(page: PageSnapshot): boolean {
  return page.hops.every((hop) => hop.tls === null || hop.tls.authorized);
}

/** The answer to a preflight of a stranger's origin, as MDN asks; null where there was none. */
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
    timeoutMs: PATIENCE_MS,
  });
  return fetched.status === "ok" ? { origin: ORIGIN, headers: fetched.data.final.headers } : null;
}

/** What the registrable domain of a page answers over https:// and http://; what the page showed is not asked again. */
export async function gatherPreload(net: Net, page: PageSnapshot, ports: WebPorts): Promise<PreloadEvidence> {
  const host = new URL(page.finalUrl).hostname.replace(/^\[|\]$/g, "");
  const domain = literalFamily(host) === null ? registrableDomain(host) : null;
  if (domain === null) return { domain, https: null, http: null };
  const [https, http] = await Promise.all([secureAnswer(net, page, domain, ports), plainAnswer(net, domain, ports)]);
  return { domain, https, http };
}

async function secureAnswer(
  net: Net,
  page: PageSnapshot,
  domain: string,
  ports: WebPorts,
): Promise<PreloadEvidence["https"]> {
  const seen = page.hops.find(({ url }) => url.startsWith("https:") && new URL(url).hostname === domain);
  if (seen !== undefined) return secureFacts(seen);
  const fetched = await firstAnswer(net, `https://${domain}:${ports.https}/`);
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

async function plainAnswer(net: Net, domain: string, ports: WebPorts): Promise<PreloadEvidence["http"]> {
  const fetched = await firstAnswer(net, `http://${domain}:${ports.http}/`);
  if (fetched.status === "ok") {
    const { code, location } = fetched.data.final;
    return { open: true, location: code >= 300 && code < 400 ? location : null };
  }
  const closed = fetched.status === "failed" && fetched.stage === "connect" && fetched.source === "target";
  return closed ? { open: false } : null;
}

function firstAnswer(net: Net, url: string) {
  return net.http.fetch({ url, method: "GET", follow: false, maxBodyBytes: 0, timeoutMs: PATIENCE_MS });
}
