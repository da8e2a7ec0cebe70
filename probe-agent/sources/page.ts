import { ok, type Outcome } from "#shared/outcome.ts";
import { isHtml, readPage, type Page } from "#probe-agent/analysis/html.ts";
import { joinedHeader } from "#probe-agent/analysis/security/snapshot.ts";
import type { Net } from "#probe-agent/net/port.ts";
import type { HttpRequest, PageSnapshot } from "#probe-agent/net/port/http.ts";

/** A page fetched once and parsed once; every analyser of pages works on this. */
export interface SeenPage {
  readonly snapshot: PageSnapshot;
  /** Value of Content-Type, null without one. */
  readonly contentType: string | null;
  /** Null where the answer is no HTML. */
  readonly page: Page | null;
  /** What every result that looked at a page begins with. */
  readonly head: { readonly url: string; readonly final_url: string; readonly status: number };
  /** When the fetch began, ISO 8601 UTC. */
  readonly observedAt: string;
  /** Why parts of a result may be missing, one sentence each. */
  readonly limitations: readonly string[];
}

/** Fetches a page, redirects followed, and parses it where it is HTML. */
export async function seePage(
  net: Net,
  url: string,
  request: Partial<Omit<HttpRequest, "url">> = {},
): Promise<Outcome<SeenPage>> {
  const observedAt = net.now().toISOString();
  const fetched = await net.http.fetch({ method: "GET", follow: true, ...request, url });
  return fetched.status === "ok" ? ok(readSnapshot(fetched.data, observedAt)) : fetched;
}

/** A snapshot as analysers take it. */
export function readSnapshot(snapshot: PageSnapshot, observedAt: string): SeenPage {
  const { final, body, url, finalUrl } = snapshot;
  const contentType = joinedHeader(final.headers, "content-type");
  const page = isHtml(contentType, body.bytes) ? readPage(body.bytes, contentType) : null;
  return {
    snapshot,
    contentType,
    page,
    head: { url, final_url: finalUrl, status: final.code },
    observedAt,
    limitations: limitationsOf(snapshot, page, contentType),
  };
}

function limitationsOf({ final, body, stopped }: PageSnapshot, page: Page | null, contentType: string | null) {
  const { code } = final;
  return [
    ...(stopped === null ? [] : [`The last response redirects on, which was not followed: ${stopped}.`]),
    ...(code >= 400 ? [`The page answered with status ${code}: what was looked at may be an error page.`] : []),
    ...(page === null ? [`The answer is no HTML (${contentType ?? "without a Content-Type"}).`] : []),
    ...(page?.truncated === true || body.truncated ? ["The page is larger than what is looked at."] : []),
    ...(body.error === null ? [] : [`The body could not be read to its end: ${body.error}.`]),
  ];
}
