import { bodyBreakOf } from "#shared/tools/http-body.ts";
import { isHtml } from "#probe-agent/analysis/html/read-page.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { unknown, type Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** A small file at a fixed path of a site. */
interface SiteFileFacts {
  readonly known: true;
  readonly status: number;
  /** Final URL after redirects. */
  readonly url: string;
  /** Null if there is no file: a status other than 200, or HTML in its place. */
  readonly text: string | null;
  /** Whether a page was returned in place of the file. Sites that answer every request with 200 do this. */
  readonly html: boolean;
  /** Value of Content-Type. Null if there is none. */
  readonly contentType: string | null;
  /** Number of decoded octets read, up to the requested maximum. */
  readonly bytes: number;
  /** Whether there is more than was read. */
  readonly truncated: boolean;
}

/** The file as far as it is available, or why nothing is known about it. */
export type SiteFile = SiteFileFacts | Unknown;

/** RFC 9309 section 2.3.1.2: follow at least five redirects. */
const MAX_REDIRECTS = 5;

/** Fetches a small text file at a fixed path of an origin. HTML in its place counts as no text. */
export async function fetchSiteFile(net: Net, origin: string, path: string, maxBodyBytes: number): Promise<SiteFile> {
  return fetchSmallFile(net, `${origin}${path}`, path, maxBodyBytes);
}

/** Fetches a small text file by its URL. `name` names the file in sentences. */
export async function fetchSmallFile(net: Net, url: string, name: string, maxBodyBytes: number): Promise<SiteFile> {
  const request = { url, method: "GET", follow: true, maxRedirects: MAX_REDIRECTS, maxBodyBytes } as const;
  const fetched = await net.http.fetch(request);
  if (fetched.status === "failed") return unknown(`${name} could not be fetched: ${fetched.message}.`);
  if (fetched.status !== "ok") return unknown(`${name} leads to an address that the probe is not allowed to contact.`);
  const { final, body, finalUrl } = fetched.data;
  const contentType = joinedHeader(final.headers, "content-type");
  const html = isHtml(contentType, body.bytes) || isHtml(null, body.bytes);
  return {
    known: true,
    status: final.code,
    url: finalUrl,
    text: final.code === 200 && !html ? new TextDecoder().decode(body.bytes) : null,
    html,
    contentType,
    bytes: body.bytes.byteLength,
    truncated: body.truncated || bodyBreakOf(body.error) !== null,
  };
}
