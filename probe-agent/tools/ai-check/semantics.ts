import { isTag, type Element } from "domhandler";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { headingLevel, headingsInOrder } from "#probe-agent/analysis/html/headings.ts";
import { INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";

/** Semantic elements of a page. */
export interface SemanticHtml {
  readonly main: boolean;
  readonly article: boolean;
  readonly nav: boolean;
  readonly header: boolean;
  readonly footer: boolean;
  /** Number of h1 elements. */
  readonly h1: number;
  /** Result of headingsInOrder. */
  readonly headings_ordered: boolean;
}

/** Finds the semantic elements of a page. An element with an equivalent ARIA role counts as the element. */
export function semanticHtml(page: Page): SemanticHtml {
  const seen = new Set<string>();
  const levels: number[] = [];
  for (const element of walkElements(page.document.root, INERT_ELEMENTS)) {
    seen.add(roleOf(element) ?? element.name);
    const level = headingLevel(element);
    if (level !== null) levels.push(level);
  }
  return {
    main: seen.has("main"),
    article: seen.has("article"),
    nav: seen.has("nav"),
    header: seen.has("header"),
    footer: seen.has("footer"),
    h1: levels.filter((level) => level === 1).length,
    headings_ordered: headingsInOrder(levels),
  };
}

/** ARIA roles and the HTML elements with the same meaning (ARIA in HTML). */
const ROLES: ReadonlyMap<string, string> = new Map([
  ["main", "main"],
  ["article", "article"],
  ["navigation", "nav"],
  ["banner", "header"],
  ["contentinfo", "footer"],
]);

function roleOf(element: Element): string | undefined {
  return isTag(element) ? ROLES.get((element.attribs["role"] ?? "").trim().toLowerCase()) : undefined;
}
