import {
  crawlerWords,
  feedsOf,
  hasDescription,
  markdownLink,
  reservedByPage,
  usageInHeader,
} from "#probe-agent/analysis/page/ai/page-words.ts";
import { semanticHtml } from "#probe-agent/analysis/page/ai/semantics.ts";
import { locateData } from "#probe-agent/analysis/html-metadata.ts";
import { visibleText } from "#probe-agent/analysis/html/text.ts";
import { countWords } from "#probe-agent/analysis/html/words.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import { readEntities } from "#probe-agent/analysis/page/structured/entity.ts";

const MAX_TYPES = 50;

/** What a page holds for AI services; `content` and what is in it is null where the answer is no HTML. */
export function aiPage({ page, url, headers }: ReadPage) {
  return {
    meta: crawlerWords(page, headers),
    reserved: reservedByPage(page, headers),
    usage: usageInHeader(headers),
    content: page === null ? null : readContent(page, url),
  };
}

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
    feeds: feedsOf(page, url),
    markdownLink: markdownLink(page, url),
  };
}
