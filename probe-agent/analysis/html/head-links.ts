import { isTag, type Element } from "domhandler";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";

/** A link element with rel=canonical or rel=alternate and an address. */
interface HeadLink {
  /** Link types in lower case. */
  readonly rel: readonly string[];
  /** Attribute value, trimmed. */
  readonly href: string;
  readonly hreflang: string | null;
  /** Clause that says why search engines ignore the link. null if they read it. */
  readonly ignored: string | null;
  /** Clause that says why readers that run no scripts ignore the link. null if they read it. */
  readonly ignoredWithoutScripts: string | null;
}

const MAX_LINKS = 2000;
/** Elements whose content is not part of the page. */
const INERT = new Set(["template", "noscript"]);
/** Attributes with which a canonical link is not used (Google, consolidate duplicate URLs, 2026-07-10). */
const LIMITING = ["hreflang", "lang", "media", "type"];

/** Reads the links of a head, and those in other places of the page, which are ignored. */
export function readHeadLinks(page: Page): HeadLink[] {
  const { headEnd, root } = page.document;
  const links: HeadLink[] = [];
  const ending = (by: string, offset: number): string =>
    `follows ${by} in line ${lineAt(page.text, offset)}, which ends the head`;
  for (const element of walkElements(root)) {
    if (element.name !== "link" || links.length >= MAX_LINKS) continue;
    const href = attribute(element, "href");
    const rel = (attribute(element, "rel") ?? "").toLowerCase().split(/\s+/);
    if (href === null || !(rel.includes("canonical") || rel.includes("alternate"))) continue;
    const offset = element.startIndex ?? 0;
    const holder = inertHolder(element);
    const limit = rel.includes("canonical") ? LIMITING.find((name) => attribute(element, name) !== null) : undefined;
    const { withoutScripts } = headEnd;
    const inBody = offset >= headEnd.offset;
    links.push({
      rel,
      href,
      hreflang: attribute(element, "hreflang"),
      ignored:
        holder !== null
          ? `is inside <${holder}>`
          : inBody
            ? headEnd.regular
              ? "is in the body"
              : ending(headEnd.by ?? "", headEnd.offset)
            : limit === undefined
              ? null
              : `has the attribute ${limit}`,
      ignoredWithoutScripts:
        withoutScripts !== null && !inBody && offset >= withoutScripts.offset
          ? ending(`${withoutScripts.by} inside <noscript>`, withoutScripts.offset)
          : null,
    });
  }
  return links;
}

function inertHolder(element: Element): string | null {
  for (let parent = element.parent; parent !== null; parent = parent.parent) {
    if (isTag(parent) && INERT.has(parent.name)) return parent.name;
  }
  return null;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
