import { isHtml, readPage, type Page } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A page as it came: plain data that can go to another thread. */
export interface RawPage {
  /** Where it was in the end. */
  readonly url: string;
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  /** Value of Content-Type, null without one. */
  readonly contentType: string | null;
  /** Null: it is left out, as that of a page that takes too long. */
  readonly body: Uint8Array | null;
}

/** The same decoded and parsed. */
export interface ReadPage extends Omit<RawPage, "body"> {
  /** Null where the answer is no HTML, or its body was left out. */
  readonly page: Page | null;
  /** The body was left out: what it holds is not known. */
  readonly unread: boolean;
}

/** Decodes and parses a page as it came. */
export function readRawPage({ body, ...rest }: RawPage): ReadPage {
  const page = body !== null && isHtml(rest.contentType, body) ? readPage(body, rest.contentType) : null;
  return { ...rest, page, unread: body === null };
}

/** What an analysis of a page works on: the page, and what else it has to know. */
export interface PageInput<Facts> {
  readonly raw: RawPage;
  readonly facts: Facts;
}

/** What it found. */
interface PageReport<Report> {
  readonly report: Report;
  /** The page has more than is looked at: bytes or nodes. */
  readonly truncated: boolean;
}

/** For analyses that need nothing beside the page. */
type NoFacts = Readonly<Record<string, never>>;

/** Makes an analysis of pages as they come of one of pages that are parsed. */
export function onPage<Report, Facts = NoFacts>(
  analyse: (page: ReadPage, facts: Facts) => Report,
): (input: PageInput<Facts>) => PageReport<Report> {
  return ({ raw, facts }) => {
    const read = readRawPage(raw);
    return { report: analyse(read, facts), truncated: read.page?.truncated === true };
  };
}
