import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { bodyBreakOf, type BodyBreak } from "#shared/tools/http-body.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { tryOnSite } from "#probe-agent/sources/try-on-site.ts";

/** A site's robots.txt as received. */
interface RobotsAnswer {
  /** Origin that was asked, e.g. https://example.com. */
  readonly origin: string;
  readonly url: string;
  readonly status: number;
  readonly contentType: string | null;
  /** Up to 500 KiB. */
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
  /** Why the body broke off. Null if it did not. */
  readonly broken: BodyBreak | null;
}

/** RFC 9309 section 2.5: a crawler must read at least 500 KiB. Google's crawler reads exactly that. */
const MAX_BYTES = 500 * 1024;
/** RFC 9309 section 2.3.1.2: crawlers should follow at least five redirects. */
const MAX_REDIRECTS = 5;

/** Fetches /robots.txt of a site given as host, host:port or URL. Uses http:// if nothing answers over https://. */
export function fetchRobots(net: Net, site: string): Promise<Outcome<RobotsAnswer>> {
  return tryOnSite(site, (url) => fetchRobotsOf(net, new URL(url).origin));
}

/** Fetches /robots.txt of an origin. */
export async function fetchRobotsOf(net: Net, origin: string): Promise<Outcome<RobotsAnswer>> {
  const fetched = await net.http.fetch({
    url: `${origin}/robots.txt`,
    method: "GET",
    follow: true,
    maxRedirects: MAX_REDIRECTS,
    maxBodyBytes: MAX_BYTES,
  });
  if (fetched.status !== "ok") return fetched;
  const { final, body, finalUrl } = fetched.data;
  return ok({
    origin,
    url: finalUrl,
    status: final.code,
    contentType: joinedHeader(final.headers, "content-type"),
    bytes: body.bytes,
    truncated: body.truncated,
    broken: bodyBreakOf(body.error),
  });
}
