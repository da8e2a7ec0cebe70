import { locateData } from "#probe-agent/analysis/page/html-metadata.ts";
import { documentBase } from "#probe-agent/analysis/http/address.ts";
import { metaContent } from "#probe-agent/analysis/html/page.ts";
import { visibleText } from "#probe-agent/analysis/html/text.ts";
import { readViewport } from "#probe-agent/analysis/html/viewport.ts";
import { countWords } from "#probe-agent/analysis/html/count-words.ts";
import { definePageAnalysis, type Page } from "#probe-agent/analysis/html/read-page.ts";
import { isLanguageTag } from "#probe-agent/analysis/http/language-tag.ts";
import { readContent } from "#probe-agent/tools/seo-audit/content.ts";
import { checkCanonical } from "#probe-agent/tools/seo-audit/canonical.ts";
import { headerDirectives, metaDirectives } from "#probe-agent/tools/seo-audit/directives.ts";
import { checkHreflang } from "#probe-agent/tools/seo-audit/hreflang.ts";
import { checkIndexability } from "#probe-agent/tools/seo-audit/indexable.ts";
import { readReferences } from "#probe-agent/tools/seo-audit/references.ts";
import type { SeoSite, SeoSource } from "#probe-agent/tools/seo-audit/snapshot.ts";
import { checkUrl } from "#probe-agent/tools/seo-audit/url-hygiene.ts";
import { readGraph } from "#probe-agent/analysis/page/social-graph.ts";
import { faviconOf } from "#probe-agent/analysis/page/social-icons.ts";
import { missingRequired } from "#probe-agent/analysis/page/social-required.ts";
import { readEntities } from "#probe-agent/analysis/page/structured/entity.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import { readSocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";

/** All facts about a page and its site that the checks of the audit evaluate. */
export type SeoFacts = ReturnType<typeof joinFacts>;
/** Facts from the page and its headers only. */
export type SeoPage = ReturnType<typeof readSeoPage>;

const MAX_TEXT = 2000;
const EMPTY_PAGE = { headings: null, images: null, links: null, word_count: null, text_html_ratio: null } as const;

/** Reads the facts that the page and its headers give. `now` decides whether unavailable_after has passed. */
export function readSeoPage({ page, headers, url, status }: SeoSource, { now }: { readonly now: Date }) {
  const references = readReferences(page, headers, url);
  const { canonical, faults: canonicalFaults, otherHost, unscripted } = checkCanonical(references, url);
  const { hygiene, faults: urlFaults } = checkUrl(url);
  return {
    isHtml: page !== null,
    url,
    status,
    title: textFacts(page?.facts.title ?? null, titleWidthPx),
    meta_description: textFacts(page === null ? null : headDescription(page), null),
    descriptionInBody: page !== null && metaContent(page.facts, "description") !== null,
    ...bodyFacts(page, url),
    canonical,
    canonicalFaults,
    canonicalOtherHost: otherHost,
    canonicalUnscripted: unscripted,
    hreflang: checkHreflang(references, url),
    robots_meta: page === null ? [] : metaDirectives(page.facts, now),
    x_robots_tag: headerDirectives(headers, now),
    lang: langFacts(page?.facts.lang ?? null),
    viewport: viewportFacts(page === null ? null : metaContent(page.facts, "viewport")),
    ...metadataFacts(page, url),
    url_hygiene: hygiene,
    urlFaults,
  };
}

/** What search engines read of a page. */
export const seoPageAnalysis = definePageAnalysis("seo-page", readSeoPage);

/** Adds the facts about the site (robots.txt, sitemap, icon) to the facts about the page. */
export function joinFacts({ favicon, ...page }: SeoPage, site: SeoSite) {
  const { url } = page;
  return {
    ...page,
    robots: site.robots,
    indexable: checkIndexability({ ...page, robots: site.robots }, page.robots_meta, page.x_robots_tag),
    sitemap: sitemapFacts(site),
    favicon:
      favicon === null
        ? null
        : {
            url: favicon.declared ?? (site.defaultIcon === true ? new URL("/favicon.ico", url).href : null),
            declared: favicon.declared !== null,
          },
  };
}

/** Returns the description in the head, the only place that Lighthouse's audit "meta-description" accepts, or null. */
function headDescription({ facts, document }: Page): string | null {
  const found = facts.metas.find(({ name, offset }) => name === "description" && offset < document.headEnd.offset);
  return found?.content ?? null;
}

function textFacts(text: string | null, width: ((text: string) => number | null) | null) {
  if (text === null || text === "") return null;
  const shown = storable(text, MAX_TEXT);
  return { text: shown, length: Array.from(shown).length, px: width === null ? null : width(shown) };
}

function bodyFacts(page: Page | null, url: string) {
  if (page === null) return { ...EMPTY_PAGE, wordsComplete: true };
  const { text, truncated } = visibleText(page.document.root);
  const { words, complete } = countWords(text);
  const ratio = page.text === "" ? 0 : Buffer.byteLength(text) / Buffer.byteLength(page.text);
  return {
    ...readContent(page, url),
    word_count: words,
    text_html_ratio: Math.round(ratio * 10_000) / 10_000,
    wordsComplete: complete && !truncated,
  };
}

function langFacts(lang: string | null) {
  if (lang === null || lang === "") return null;
  return { value: storable(lang, 100), valid: isLanguageTag(lang) };
}

function viewportFacts(content: string | null) {
  if (content === null) return null;
  const { deviceWidth, zoomBlocked } = readViewport(content);
  return { content: storable(content, 500), device_width: deviceWidth, zoom_blocked: zoomBlocked };
}

function sitemapFacts({ sitemap: { named, tried } }: SeoSite) {
  return {
    found: tried.known ? tried.status === 200 && tried.looksLikeSitemap : null,
    source: named.length > 0 ? ("robots_txt" as const) : ("default" as const),
    urls: named.slice(0, 20).map((url) => storable(url, 500)),
    checked: tried.known ? { url: storable(tried.url, 500), code: tried.status } : null,
  };
}

function metadataFacts(page: Page | null, url: string) {
  if (page === null) return { structured_data: null, dataFaults: { count: 0, first: null }, og: null, favicon: null };
  const base = documentBase(page.facts.baseHref, url);
  const data = locateData(page, url);
  const reading = readGraph(readSocialTags(page).properties, base);
  const types = new Set(
    readEntities(data).top.flatMap(({ entity }) => entity.types.map((type) => storable(type, 200))),
  );
  return {
    structured_data: {
      json_ld: data.json_ld.length,
      microdata: data.microdata.length,
      rdfa: data.rdfa.length,
      types: [...types].slice(0, 50),
    },
    dataFaults: { count: data.errors.length, first: data.errors[0]?.message.slice(0, 200) ?? null },
    og: {
      title: reading.graph.title,
      description: reading.graph.description,
      image: reading.graph.image[0]?.url ?? null,
      missing_required: missingRequired(reading),
    },
    favicon: { declared: faviconOf(page.facts, base) },
  };
}

/** Advance width of the space in thousandths of an em. */
const SPACE = 278;
/**
 * Advance widths of the printable ASCII characters from "!" to "~", in thousandths of an em. All widths here are from
 * Helvetica (Adobe Font Metrics). Arial was designed with the same widths.
 */
const ASCII = [
  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722,
  778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556,
  278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260,
  334, 584,
];
/** Advance widths of other characters, in thousandths of an em. */
const OTHERS = new Map([
  ["–", 556],
  ["—", 1000],
  ["‘", 222],
  ["’", 222],
  ["“", 333],
  ["”", 333],
  ["…", 1000],
  ["•", 350],
  ["·", 278],
  ["|", 260],
  ["\u00A0", SPACE],
  ["«", 556],
  ["»", 556],
  ["€", 556],
  ["£", 556],
  ["©", 737],
  ["®", 737],
  ["™", 1000],
  ["ß", 611],
  ["æ", 889],
  ["Æ", 1000],
  ["ø", 611],
  ["Ø", 778],
]);
/** Ideographs, syllables and full-width forms, which are one em wide. */
const FULL_WIDTH =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303F\uFF01-\uFF60]$/u;
/** Font size of titles in Google's results on desktops, in pixels. */
const TITLE_PX = 20;
const MAX_CHARACTERS = 500;

/**
 * Estimates the width of a title in a search result, in pixels. Returns null if the width of one of its characters is
 * unknown.
 */
export function titleWidthPx(title: string): number | null {
  let thousandths = 0;
  for (const character of title.normalize("NFD").slice(0, MAX_CHARACTERS)) {
    const width = widthOf(character);
    if (width === null) return null;
    thousandths += width;
  }
  return Math.round((thousandths * TITLE_PX) / 1000);
}

function widthOf(character: string): number | null {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x20) return SPACE;
  const known = ASCII[code - 0x21] ?? OTHERS.get(character);
  if (known !== undefined) return known;
  // NFD separates an accent from its letter. The accent adds no width.
  if (/^\p{M}$/u.test(character)) return 0;
  return FULL_WIDTH.test(character) ? 1000 : null;
}
