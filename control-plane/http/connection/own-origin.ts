import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "#shared/settings/address.ts";
import { createScheme } from "#control-plane/http/connection/client-address.ts";
import { Refusal } from "#control-plane/http/errors.ts";

/** The settings that decide which pages are those of this service. */
export interface OriginSettings {
  readonly baseUrl: string;
  readonly isBaseUrlSet: boolean;
  readonly tls: object | null;
  readonly trustedProxies: readonly string[];
}

/** What is read of a request. */
type Asked = Pick<IncomingMessage, "headers"> & { readonly socket: { readonly remoteAddress?: string | undefined } };

/**
 * Creates the check that a request of a browser comes from a page of this service: by its Origin, which is that of
 * VANTAGE_BASE_URL. Without that setting it can also be the one that the request was sent to, if the host is an address or
 * localhost: names of strangers can lead here, addresses cannot be theirs. Returns the refusal, undefined: it is one.
 */
export function createOriginCheck(settings: OriginSettings): (request: Asked) => Refusal | undefined {
  const own = new URL(settings.baseUrl);
  const schemeOf = createScheme(settings.trustedProxies, settings.tls === null ? "http" : "https");
  const accepts = (host: string): boolean =>
    settings.isBaseUrlSet
      ? isLoopback(bare(own.hostname)) && isLoopback(bare(host))
      : host === "localhost" || isIP(bare(host)) !== 0;
  return ({ headers, socket }) => {
    const { origin } = headers;
    if (origin === own.origin) return undefined;
    const forwarded = headers["x-forwarded-proto"];
    const scheme = schemeOf(socket.remoteAddress, typeof forwarded === "string" ? forwarded : undefined);
    const sent = URL.parse(`${scheme}://${headers.host ?? ""}`);
    if (sent !== null && sent.origin === origin && accepts(sent.hostname)) return undefined;
    return new Refusal(
      "insufficient_scope",
      `Only pages of ${own.origin} may send this. If you opened this service at another address, set VANTAGE_BASE_URL to it.`,
    );
  };
}

/** Returns a host of a URL without brackets. */
function bare(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
