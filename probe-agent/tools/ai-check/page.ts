import {
  collectDirectives,
  findFeeds,
  hasDescription,
  findMarkdownLink,
  findReservation,
  findContentUsage,
} from "#probe-agent/tools/ai-check/page-declarations.ts";
import { semanticHtml } from "#probe-agent/tools/ai-check/semantics.ts";
import { locateData } from "#probe-agent/analysis/page/html-metadata.ts";
import { visibleText } from "#probe-agent/analysis/html/text.ts";
import { countWords } from "#probe-agent/analysis/html/count-words.ts";
import { definePageAnalysis, type Page, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import { readEntities } from "#probe-agent/analysis/page/structured/entity.ts";

const MAX_TYPES = 50;

/** Analyses a page for AI services. `content` is null if the response is not HTML. */
function aiPage({ page, url, headers }: ReadPage) {
  return {
    meta: collectDirectives(page, headers),
    reserved: findReservation(page, headers),
    usage: findContentUsage(headers),
    content: page === null ? null : readContent(page, url),
  };
}

/** What AI systems read of a page. */
export const aiPageAnalysis = definePageAnalysis("ai-page", aiPage);

function readContent(page: Page, url: string) {
  const { text } = visibleText(page.document.root);
  const entities = readEntities(locateData(page, url));
  const types = [...new Set(entities.top.flatMap(({ entity }) => entity.types))];
  return {
    bytes: Buffer.byteLength(text),
    text: {
      words: countWords(text).words,
      ratio: Math.round((1000 * text.length) / Math.max(1, page.text.length)) / 1000,
    },
    types: { found: types.length > 0, types: types.slice(0, MAX_TYPES).map((type) => type.slice(0, 200)) },
    semantic: semanticHtml(page),
    hasDescription: hasDescription(page),
    feeds: findFeeds(page, url),
    markdownLink: findMarkdownLink(page, url),
  };
}
