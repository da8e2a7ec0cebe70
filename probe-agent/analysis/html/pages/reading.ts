import { isHtml, readPage, type Page } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A fetched page. Plain data that can be sent to another thread. */
export interface RawPage {
  /** URL after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  /** Value of Content-Type. null if there is none. */
  readonly contentType: string | null;
  /** null if the body is left out, e.g. because its analysis takes too long. */
  readonly body: Uint8Array | null;
}

/** A fetched page, decoded and parsed. */
export interface ReadPage extends Omit<RawPage, "body"> {
  /** null if the response is not HTML, or its body was left out. */
  readonly page: Page | null;
  /** Whether the body was left out, so that its content is unknown. */
  readonly unread: boolean;
}

/** Decodes and parses a fetched page. */
export function readRawPage({ body, ...rest }: RawPage): ReadPage {
  const page = body !== null && isHtml(rest.contentType, body) ? readPage(body, rest.contentType) : null;
  return { ...rest, page, unread: body === null };
}

/** Input of a page analysis: the page and further facts. */
export interface PageInput<Facts> {
  readonly raw: RawPage;
  readonly facts: Facts;
}

/** Output of a page analysis. */
interface PageReport<Report> {
  readonly report: Report;
  /** Whether the page has more bytes or nodes than are read. */
  readonly truncated: boolean;
}

/** Facts of analyses that need only the page. */
type NoFacts = Readonly<Record<string, never>>;

/** Converts an analysis of parsed pages into an analysis of fetched pages. */
export function onPage<Report, Facts = NoFacts>(
  analyse: (page: ReadPage, facts: Facts) => Report,
): (input: PageInput<Facts>) => PageReport<Report> {
  return ({ raw, facts }) => {
    const read = readRawPage(raw);
    return { report: analyse(read, facts), truncated: read.page?.truncated === true };
  };
}
