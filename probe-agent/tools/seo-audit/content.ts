import { type Element, isTag } from "domhandler";
import { documentBase, resolveUrl } from "#probe-agent/analysis/http/address.ts";
import { rawTextOf, walkElements, type TextBudget } from "#probe-agent/analysis/html/document.ts";
import { headingLevel, headingsInOrder } from "#probe-agent/analysis/html/headings.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import { attribute, INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import { withoutFragment } from "#probe-agent/analysis/http/web-url.ts";
import { withoutTrailing } from "#shared/text/strip-trailing.ts";

/** A heading in the result. */
interface Heading {
  readonly level: number;
  readonly text: string;
}

/** Headings, images and links of a page. The lists are limited to 50 entries; the counts are complete. */
interface PageContent {
  readonly headings: { readonly counts: readonly number[]; readonly texts: Heading[]; readonly outline_ok: boolean };
  readonly images: {
    readonly total: number;
    readonly missing_alt: { src: string; line: number }[];
    readonly missing_alt_total: number;
    readonly decorative: number;
  };
  readonly links: {
    readonly total: number;
    readonly internal: number;
    readonly external: number;
    readonly nofollow: number;
    readonly non_descriptive: { text: string; url: string; line: number }[];
    readonly non_descriptive_total: number;
    readonly uncrawlable: { href: string | null; text: string; line: number }[];
    readonly uncrawlable_total: number;
  };
}

const MAX_LISTED = 50;
/** Maximum length of a text in the result, in characters. */
const TEXT = 200;
/** Maximum number of nodes and characters read for the texts of links and headings. */
const TEXT_BUDGET = 6_000_000;

const HIDING_STYLE = /(?:^|;)\s{0,9}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)\b/i;

/** Reads the headings, images and links of a page in one pass over its elements. */
export function readContent(page: Page, pageUrl: string): PageContent {
  const lines = lineCounter(page.text);
  const base = documentBase(page.facts.baseHref, pageUrl);
  const language = (page.facts.lang ?? "").split("-", 1)[0]?.toLowerCase() ?? "";
  const budget = { left: TEXT_BUDGET };
  const context = {
    base,
    ownUrl: withoutFragment(new URL(pageUrl)),
    host: new URL(pageUrl).hostname,
    language: language === "" ? null : language,
    budget,
  };
  const headings = { counts: [0, 0, 0, 0, 0, 0], texts: [] as Heading[] };
  const levels: number[] = [];
  const images = { total: 0, missing_alt: [] as { src: string; line: number }[], missing_alt_total: 0, decorative: 0 };
  const links: Mutable<PageContent["links"]> = {
    total: 0,
    internal: 0,
    external: 0,
    nofollow: 0,
    non_descriptive: [],
    non_descriptive_total: 0,
    uncrawlable: [],
    uncrawlable_total: 0,
  };
  const isHidden = hiddenElementFinder();
  for (const element of walkElements(page.document.root, INERT_ELEMENTS)) {
    const level = headingLevel(element);
    if (level !== null) {
      levels.push(level);
      headings.counts[level - 1] = (headings.counts[level - 1] ?? 0) + 1;
      if (headings.texts.length < MAX_LISTED) headings.texts.push({ level, text: nameOf(element, budget) });
    } else if (element.name === "img") readImage(element, images, lines, isHidden);
    else if (element.name === "a" || element.name === "area") readLink(element, links, lines, context);
  }
  return { headings: { ...headings, outline_ok: headingsInOrder(levels) }, images, links };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Lines = (offset: number) => number;

interface LinkContext {
  readonly base: string;
  /** Address of the page without a fragment. */
  readonly ownUrl: string;
  readonly host: string;
  readonly language: string | null;
  readonly budget: TextBudget;
}

/**
 * Counts an image, and records it if it has no alternative text. By axe's rule image-alt, the text can come from alt,
 * aria attributes or title. An image that is presentational or hidden needs none.
 */
function readImage(
  element: Element,
  images: Mutable<PageContent["images"]>,
  lines: Lines,
  isHidden: (element: Element) => boolean,
): void {
  images.total += 1;
  const alt = attribute(element, "alt");
  if (alt === "") images.decorative += 1;
  const role = attribute(element, "role")?.toLowerCase();
  const named = ["aria-label", "aria-labelledby", "title"].some((name) => (attribute(element, name) ?? "") !== "");
  if (alt !== null || named || role === "presentation" || role === "none" || isHidden(element)) return;
  images.missing_alt_total += 1;
  if (images.missing_alt.length >= MAX_LISTED) return;
  const src = attribute(element, "src") ?? "";
  images.missing_alt.push({ src: storable(src, TEXT), line: lines(element.startIndex ?? 0) });
}

function readLink(element: Element, links: Mutable<PageContent["links"]>, lines: Lines, context: LinkContext): void {
  links.total += 1;
  const href = attribute(element, "href");
  const url = href === null || href === "" ? null : resolveUrl(href, context.base);
  const rel = (attribute(element, "rel") ?? "").toLowerCase().split(/\s+/);
  const nofollow = rel.includes("nofollow");
  links.nofollow += nofollow ? 1 : 0;
  if (url !== null && /^https?:$/.test(url.protocol)) {
    if (url.hostname === context.host) links.internal += 1;
    else links.external += 1;
  }
  if (element.name === "a" && isUncrawlable(element, href, url)) {
    links.uncrawlable_total += 1;
    if (links.uncrawlable.length < MAX_LISTED) {
      const text = nameOf(element, context.budget);
      links.uncrawlable.push({
        href: href === null ? null : storable(href, TEXT),
        text,
        line: lines(element.startIndex ?? 0),
      });
    }
  }
  if (url === null || nofollow || !/^https?:$/.test(url.protocol) || withoutFragment(url) === context.ownUrl) return;
  const text = nameOf(element, context.budget);
  if (text === "" || !isNonDescriptive(text, context.language)) return;
  links.non_descriptive_total += 1;
  if (links.non_descriptive.length >= MAX_LISTED) return;
  links.non_descriptive.push({ text, url: storable(url.href, 500), line: lines(element.startIndex ?? 0) });
}

/** Attributes that are valid only with href (HTML, the a element). */
const LINK_ATTRIBUTES = ["target", "download", "ping", "rel", "hreflang", "type", "referrerpolicy", "onclick"];

/**
 * Reports whether crawlers cannot follow a link, as in Lighthouse's audit "crawlable-anchors". A placeholder without
 * href is allowed (HTML, the a element).
 */
function isUncrawlable(element: Element, href: string | null, url: URL | null): boolean {
  const has = (name: string): boolean => (attribute(element, name) ?? "") !== "";
  const written = (href ?? "").replaceAll(/\s/g, "").toLowerCase();
  if (has("role") || written.startsWith("mailto:")) return false;
  if (written.startsWith("file:")) return true;
  if (has("name")) return false;
  if (href === null) return LINK_ATTRIBUTES.some((name) => attribute(element, name) !== null) && !has("id");
  if (written === "") return !has("id");
  return /^javascript:(?:void\(?0?\)?|;|$)/.test(written) || url === null;
}

/** Returns the name of a heading or link: its label, its text, or the alternative text of an image in it. */
function nameOf(element: Element, budget: TextBudget): string {
  const label = attribute(element, "aria-label");
  if (label !== null && label !== "") return storable(label, TEXT);
  const text = rawTextOf(element, TEXT * 4, budget)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (text !== "") return storable(text, TEXT);
  for (const inner of walkElements(element)) {
    budget.left -= 1;
    if (budget.left <= 0) break;
    const alt = inner.name === "img" ? attribute(inner, "alt") : null;
    if (alt !== null && alt !== "") return storable(alt, TEXT);
  }
  return "";
}

/**
 * Makes a function that reports whether an element is hidden from sight and from screen readers by its attributes or
 * those of an ancestor. axe does not check such elements. Elements that style sheets hide are not recognized. The
 * function checks each element once.
 */
function hiddenElementFinder(): (element: Element) => boolean {
  const known = new Map<Element, boolean>();
  return (element) => {
    const visited: Element[] = [];
    let hidden = false;
    for (let at: Element | null = element; at !== null && !hidden; at = parentOf(at)) {
      const cached = known.get(at);
      hidden = cached ?? hides(at);
      visited.push(at);
      if (cached !== undefined) break;
    }
    for (const one of visited) known.set(one, hidden);
    return hidden;
  };
}

function parentOf({ parent }: Element): Element | null {
  return parent !== null && isTag(parent) ? parent : null;
}

function hides(element: Element): boolean {
  if (Object.hasOwn(element.attribs, "hidden") || attribute(element, "aria-hidden") === "true") return true;
  return HIDING_STYLE.test((element.attribs["style"] ?? "").slice(0, 1000));
}

/**
 * Link texts that do not describe the target, by language. They are the texts of Lighthouse's audit "link-text" in the
 * most common languages of web pages, and similar texts in French, Italian, Dutch, Polish, Russian and Chinese.
 */
const TEXTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    en: "click here|click this|go|here|information|learn more|more|more info|more information|right here|read more|see more|start|this",
    de: "klicke hier|hier klicken|klicken sie hier|hier|mehr|siehe|dies|das|weiterlesen|mehr erfahren|mehr lesen",
    es: "click aquí|click aqui|clicka aquí|clicka aqui|pincha aquí|pincha aqui|aquí|aqui|más|mas|más información|más informacion|mas información|mas informacion|este|enlace|este enlace|empezar|leer más",
    fr: "cliquez ici|cliquer ici|ici|plus|en savoir plus|lire la suite|voir plus|plus d'infos|suite",
    it: "clicca qui|qui|di più|scopri di più|leggi di più|leggi tutto|continua",
    ja: "ここをクリック|こちらをクリック|こちら|リンク|続きを読む|続く|全文表示|詳しくはこちら",
    ko: "여기|여기를 클릭|클릭|링크|자세히|자세히 보기|계속|이동|전체 보기",
    nl: "klik hier|hier|meer|lees meer|meer info|meer informatie|lees verder",
    pl: "kliknij tutaj|tutaj|więcej|czytaj więcej|dowiedz się więcej",
    pt: "clique aqui|aqui|ir|mais informação|mais informações|mais|veja mais|saiba mais|leia mais",
    ru: "здесь|тут|нажмите здесь|подробнее|далее|читать далее|ещё",
    sv: "här|klicka här|läs mer|mer|mer info|mer information",
    zh: "点击这里|這裡|这里|点此|更多|详情|了解更多|閱讀更多|阅读更多",
  }).map(([language, texts]) => [language, new Set(texts.split("|"))]),
);

function isEndMark(character: string): boolean {
  return character.trim() === "" || ".…»›>→:!".includes(character);
}

/**
 * Reports whether a link text is generic, such as "click here". `language` is the page's language in lower case. null,
 * and a language without a table, try all languages.
 */
export function isNonDescriptive(text: string, language: string | null): boolean {
  const normalized = withoutTrailing(text.toLowerCase(), isEndMark);
  // An address does not describe the target either.
  if (/^https?:\/\/\S+$/.test(normalized)) return true;
  const forLanguage = language === null ? undefined : TEXTS.get(language);
  if (forLanguage !== undefined) return forLanguage.has(normalized) || (TEXTS.get("en")?.has(normalized) ?? false);
  return [...TEXTS.values()].some((texts) => texts.has(normalized));
}
