import { isIP } from "node:net";
import type { IncomingHttpHeaders } from "node:http";

/**
 * Returns why a request is refused; null if it is answered. A page that somebody opens could probe the network of its
 * visitor through an exporter on his machine, by a request from another site or by a name that is rebound to his address.
 * A browser's request (it carries Sec-Fetch-Mode or Origin) is answered only for a Host that is an address, localhost or
 * that of the external URL, and not from another site. Prometheus and curl send neither field.
 */
export function whyRefused(headers: IncomingHttpHeaders, externalUrl: string | null): string | null {
  const { origin, host = "" } = headers;
  const mode = headers["sec-fetch-mode"];
  if (mode === undefined && origin === undefined) return null;
  const asked = URL.parse(`http://${host}`);
  const external = externalUrl === null ? null : new URL(externalUrl);
  const name = asked?.hostname.replace(/^\[|\]$/g, "") ?? "";
  if (isIP(name) === 0 && name !== "localhost" && name !== external?.hostname) {
    return `Browsers are answered for addresses, localhost and the host of --web.external-url, not for ${JSON.stringify(name.slice(0, 100))}`;
  }
  const site = headers["sec-fetch-site"];
  const isOtherSite = site === "cross-site" || site === "same-site";
  // A browser without Sec-Fetch-Site names the page's origin alone.
  const isOtherOrigin = origin !== undefined && URL.parse(origin)?.host !== asked?.host;
  return isOtherSite || isOtherOrigin ? "Requests from pages of other sites are not answered" : null;
}
