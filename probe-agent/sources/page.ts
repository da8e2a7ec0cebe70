import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { isHtml, type PageAnalysis, type PageInput, type RawPage } from "#probe-agent/analysis/html/read-page.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";
import { runAnalysis, isTooComplex } from "#probe-agent/sources/run-analysis.ts";

/** A page that was fetched once. The analyses of pages read it. */
export interface FetchedPage {
  readonly snapshot: PageSnapshot;
  /** Value of Content-Type. Null if there is none. */
  readonly contentType: string | null;
  readonly isHtml: boolean;
  /** Fields at the start of every result about a page. */
  readonly head: { readonly url: string; readonly final_url: string; readonly code: number };
  /** Start of the fetch, in ISO 8601 UTC. */
  readonly observedAt: string;
}

/** Result of an analysis of a page. */
export interface PageReading<Report> {
  readonly report: Report;
  /** Whether the HTML of the page was not analysed, because it was too complex. */
  readonly unread: boolean;
  /** Why parts of a result may be missing, one sentence each. */
  readonly limitations: readonly string[];
}

/**
 * Fetches a page for tools that need mainly its headers. A page that never ends or breaks off has already sent those.
 * Its body is read as far as it arrived, and the limitations say so.
 */
export function fetchSlowPage(net: Net, url: string): Promise<Outcome<FetchedPage>> {
  return fetchPage(net, url, { bodyTimeoutMs: net.remainingMs() / 3 });
}

/** Errors in how the length of a body was declared. The whole body may have arrived nevertheless. */
const SAID_WRONGLY = new Set(["bad_content_length", "unsupported_transfer_coding"]);

/** Reports whether the body is incomplete. Things that are not found in it may still exist. */
export function isBodyIncomplete({ snapshot: { body } }: FetchedPage): boolean {
  return body.truncated || (body.error !== null && !SAID_WRONGLY.has(body.error));
}

/** Fetches a page and follows redirects. */
export async function fetchPage(
  net: Net,
  url: string,
  request: Partial<Omit<HttpRequest, "url">> = {},
): Promise<Outcome<FetchedPage>> {
  const observedAt = net.now().toISOString();
  const fetched = await net.http.fetch({ method: "GET", follow: true, ...request, url });
  return fetched.status === "ok" ? ok(describeSnapshot(fetched.data, observedAt)) : fetched;
}

/** Converts a snapshot to the form that analyses take. */
export function describeSnapshot(snapshot: PageSnapshot, observedAt: string): FetchedPage {
  const { final, body, url, finalUrl } = snapshot;
  const contentType = joinedHeader(final.headers, "content-type");
  return {
    snapshot,
    contentType,
    isHtml: isHtml(contentType, body.bytes),
    head: { url, final_url: finalUrl, code: final.code },
    observedAt,
  };
}

/**
 * Analyses a page. Fails if that needs too much time or memory: page_too_complex is the page's fault, busy the probe's.
 */
export async function analysePage<Report, Facts>(
  net: Net,
  seen: FetchedPage,
  analysis: PageAnalysis<Report, Facts>,
  facts: NoInfer<Facts>,
): Promise<Outcome<PageReading<Report>>> {
  const analysed = await runAnalysis(net, analysis, inputOf(seen, seen.snapshot.body.bytes, facts));
  if (analysed.status !== "ok") return analysed;
  const { report, truncated } = analysed.data;
  return ok({ report, unread: false, limitations: limitationsOf(seen, truncated) });
}

/**
 * Analyses a page for tools that can report on any answer. If the page is too complex, it is analysed without its HTML,
 * like an answer that has none.
 */
export async function analysePageOrHeaders<Report, Facts>(
  net: Net,
  seen: FetchedPage,
  analysis: PageAnalysis<Report, Facts>,
  facts: NoInfer<Facts>,
): Promise<Outcome<PageReading<Report>>> {
  const read = await analysePage(net, seen, analysis, facts);
  if (!isTooComplex(read)) return read;
  const analysed = await runAnalysis(net, analysis, inputOf(seen, null, facts));
  if (analysed.status !== "ok") return analysed;
  return ok({ report: analysed.data.report, unread: true, limitations: [...limitationsOf(seen), HTML_NOT_EXAMINED] });
}

/** Limitation of a result for which the HTML was not analysed. */
export const HTML_NOT_EXAMINED = "The page is too complex to analyse, so its HTML was not examined.";

function inputOf<Facts>(seen: FetchedPage, body: Uint8Array | null, facts: Facts): PageInput<Facts> {
  return { raw: { ...rawPageOf(seen), body }, facts };
}

/** Converts a page to the form that threads take. */
export function rawPageOf({ snapshot: { finalUrl, final, body }, contentType }: FetchedPage): RawPage {
  return { url: finalUrl, status: final.code, headers: final.headers, contentType, body: body.bytes };
}

/**
 * Returns why an answer is not a whole page, one sentence each. `truncated` means that the page has more than the
 * analysis reads.
 */
export function limitationsOf({ snapshot, contentType, isHtml: html }: FetchedPage, truncated = false): string[] {
  const { final, body, stopped } = snapshot;
  const { code } = final;
  return [
    ...(stopped === null ? [] : [`The last response redirects on, which was not followed: ${stopped}.`]),
    ...(code >= 400 ? [`The page answered with status ${code}, so it may be an error page.`] : []),
    ...(html ? [] : [`The answer is not HTML (${contentType ?? "without a Content-Type"}).`]),
    ...(truncated || body.truncated ? ["The page is larger than the part that was examined."] : []),
    ...(body.error === null ? [] : [`The body could not be read to its end: ${body.error}.`]),
  ];
}
