import { defineAnalysis, type Analysis } from "#probe-agent/analysis/analysis.ts";
import { mimeEssence, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { decodePage, pageCharset, type Charset } from "#probe-agent/analysis/html/charset.ts";
import { parseDocument, type ParsedDocument } from "#probe-agent/analysis/html/document.ts";
import { readPageFacts, type PageFacts } from "#probe-agent/analysis/html/page.ts";

/** A decoded and parsed HTML page with its facts. */
export interface Page {
  readonly text: string;
  readonly charset: Charset;
  readonly document: ParsedDocument;
  readonly facts: PageFacts;
  /** Whether the page has more bytes or nodes than are read. */
  readonly truncated: boolean;
}

/** Maximum number of bytes of a page that are read. */
const MAX_HTML_BYTES = 5 * 1024 * 1024;

const HTML_TYPES = new Set(["text/html", "application/xhtml+xml"]);

/** Reports whether a Content-Type names HTML. If it is missing, the start of the body decides. */
export function isHtml(contentType: string | null, body: Uint8Array): boolean {
  const type = mimeEssence(contentType);
  if (type !== "") return HTML_TYPES.has(type);
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, MAX_PROLOGUE)).toString("latin1");
  return /^<(?:!doctype\s+html|html|head|body|title|meta|script)\b/i.test(withoutPrologue(start));
}

/** Number of bytes searched for the first element of a body without a Content-Type. */
const MAX_PROLOGUE = 2048;
const BYTE_ORDER_MARK = "\u00EF\u00BB\u00BF";
/** Comments, and the XML declaration and other processing instructions with which XHTML can begin. */
const SKIPPED = [
  ["<!--", "-->"],
  ["<?", "?>"],
] as const;

/**
 * Removes the byte order mark, white space, comments and processing instructions at the start. Returns "" if one of
 * them is not closed.
 */
function withoutPrologue(text: string): string {
  let rest = (text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text).trimStart();
  for (;;) {
    const [opener, closer] = SKIPPED.find(([begin]) => rest.startsWith(begin)) ?? [];
    if (opener === undefined) return rest;
    const end = rest.indexOf(closer, opener.length);
    if (end === -1) return "";
    rest = rest.slice(end + closer.length).trimStart();
  }
}

/** Decodes and parses a page. `contentType` is the header's value. Never throws. */
export function readPage(body: Uint8Array, contentType: string | null): Page {
  const { text, charset } = readText(body, contentType);
  const page = readHtml(text, charset);
  return { ...page, truncated: page.truncated || body.byteLength > MAX_HTML_BYTES };
}

/** Decodes a page without parsing it. */
function readText(body: Uint8Array, contentType: string | null): Pick<Page, "text" | "charset"> {
  const bytes = body.subarray(0, MAX_HTML_BYTES);
  const charset = pageCharset(bytes, contentType);
  return { text: decodePage(bytes, charset), charset };
}

/** Parses a decoded page. */
export function readHtml(text: string, charset: Charset = { encoding: "utf-8", source: "guess" }): Page {
  const kept = text.slice(0, MAX_HTML_BYTES);
  const document = parseDocument(kept);
  const truncated = document.truncated || kept.length < text.length;
  return { text: kept, charset, document, facts: readPageFacts(document.root), truncated };
}

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

/** An analysis of a fetched page. */
export type PageAnalysis<Report, Facts> = Analysis<PageInput<Facts>, PageReport<Report>>;

/** Converts an analysis of parsed pages into an analysis of fetched pages, with a name for threads. */
export function definePageAnalysis<Report, Facts = NoFacts>(
  name: string,
  analyse: (page: ReadPage, facts: Facts) => Report,
): PageAnalysis<Report, Facts> {
  return defineAnalysis(name, ({ raw, facts }: PageInput<Facts>) => {
    const read = readRawPage(raw);
    return { report: analyse(read, facts), truncated: read.page?.truncated === true };
  });
}
