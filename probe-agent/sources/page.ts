import { ok, type Outcome } from "#shared/outcome.ts";
import type { InputOf, PageAnalysisName, ReportOf } from "#probe-agent/analysis/site/analyses.ts";
import { isHtml } from "#probe-agent/analysis/html/read-page.ts";
import type { PageInput, RawPage } from "#probe-agent/analysis/html/pages/reading.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";
import { runAnalysis, isTooComplex } from "#probe-agent/sources/run-analysis.ts";

/** A page fetched once; what it says is read by one of the analyses of pages. */
export interface SeenPage {
  readonly snapshot: PageSnapshot;
  /** Value of Content-Type, null without one. */
  readonly contentType: string | null;
  readonly isHtml: boolean;
  /** What every result that looked at a page begins with. */
  readonly head: { readonly url: string; readonly final_url: string; readonly code: number };
  /** When the fetch began, ISO 8601 UTC. */
  readonly observedAt: string;
}

/** What an analysis gives of a page. */
export interface PageReading<Report> {
  readonly report: Report;
  /** The HTML of the page was left out (readWhatCan). */
  readonly unread: boolean;
  /** Why parts of a result may be missing, one sentence each. */
  readonly limitations: readonly string[];
}

/**
 * As seePage, for tools that go by headers first: a page that never ends, or breaks off, has sent those. It is then read
 * as far as it came, and its limitations say so.
 */
export function seeSlowPage(net: Net, url: string): Promise<Outcome<SeenPage>> {
  return seePage(net, url, { bodyTimeoutMs: net.remainingMs() / 3 });
}

/** What is wrong with how a body's length was said; all of it may well have come. */
const SAID_WRONGLY = new Set(["bad_content_length", "unsupported_transfer_coding"]);

/** Not all of the page's body was read: what is not found in it may still be there. */
export function isCut({ snapshot: { body } }: SeenPage): boolean {
  return body.truncated || (body.error !== null && !SAID_WRONGLY.has(body.error));
}

/** What an analysis of pages finds. */
export type PageReportOf<Name extends PageAnalysisName> = ReportOf<Name>["report"];
/** What it has to know beside the page. */
type PageFactsOf<Name extends PageAnalysisName> = InputOf<Name>["facts"];

/** Fetches a page, redirects followed. */
export async function seePage(
  net: Net,
  url: string,
  request: Partial<Omit<HttpRequest, "url">> = {},
): Promise<Outcome<SeenPage>> {
  const observedAt = net.now().toISOString();
  const fetched = await net.http.fetch({ method: "GET", follow: true, ...request, url });
  return fetched.status === "ok" ? ok(describeSnapshot(fetched.data, observedAt)) : fetched;
}

/** A snapshot as analysers take it. */
export function describeSnapshot(snapshot: PageSnapshot, observedAt: string): SeenPage {
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

/** Reads a page by an analysis. Fails where that takes too much: page_too_complex is the page's fault, busy the probe's. */
export async function readSeen<Name extends PageAnalysisName>(
  net: Net,
  seen: SeenPage,
  name: Name,
  facts: PageFactsOf<Name>,
): Promise<Outcome<PageReading<PageReportOf<Name>>>> {
  const analysed = await runAnalysis(net, name, inputOf(seen, seen.snapshot.body.bytes, facts) as InputOf<Name>);
  if (analysed.status !== "ok") return analysed;
  const { report, truncated } = analysed.data;
  return ok({ report, unread: false, limitations: limitationsOf(seen, truncated) });
}

/**
 * As readSeen, for tools that have something to say of any answer: of a page that is too complex it is what remains
 * without its HTML, as of an answer that has none.
 */
export async function readWhatCan<Name extends PageAnalysisName>(
  net: Net,
  seen: SeenPage,
  name: Name,
  facts: PageFactsOf<Name>,
): Promise<Outcome<PageReading<PageReportOf<Name>>>> {
  const read = await readSeen(net, seen, name, facts);
  if (!isTooComplex(read)) return read;
  const analysed = await runAnalysis(net, name, inputOf(seen, null, facts) as InputOf<Name>);
  if (analysed.status !== "ok") return analysed;
  return ok({ report: analysed.data.report, unread: true, limitations: [...limitationsOf(seen), UNREAD] });
}

/** Said where the HTML of a page is left out. */
export const UNREAD = "The page takes too much to analyse: what its HTML says is not known.";

function inputOf<Facts>(seen: SeenPage, body: Uint8Array | null, facts: Facts): PageInput<Facts> {
  return { raw: { ...rawPageOf(seen), body }, facts };
}

/** A page as threads take it. */
export function rawPageOf({ snapshot: { finalUrl, final, body }, contentType }: SeenPage): RawPage {
  return { url: finalUrl, status: final.code, headers: final.headers, contentType, body: body.bytes };
}

/** What keeps an answer from being a whole page, one sentence each. `truncated`: the page has more than is looked at. */
export function limitationsOf({ snapshot, contentType, isHtml: html }: SeenPage, truncated = false): string[] {
  const { final, body, stopped } = snapshot;
  const { code } = final;
  return [
    ...(stopped === null ? [] : [`The last response redirects on, which was not followed: ${stopped}.`]),
    ...(code >= 400 ? [`The page answered with status ${code}: what was looked at may be an error page.`] : []),
    ...(html ? [] : [`The answer is no HTML (${contentType ?? "without a Content-Type"}).`]),
    ...(truncated || body.truncated ? ["The page is larger than what is looked at."] : []),
    ...(body.error === null ? [] : [`The body could not be read to its end: ${body.error}.`]),
  ];
}
