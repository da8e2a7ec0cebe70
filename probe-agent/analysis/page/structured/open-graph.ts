import type { Element } from "domhandler";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, isInside } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";

/** A property and its content. */
export type Property = readonly [name: string, content: string];

/** The social meta elements of a page. */
export interface SocialTags {
  /** Open Graph (ogp.me) in document order, repeats kept; names in lower case, contents as written. */
  readonly properties: readonly Property[];
  /** X cards: twitter:* in document order. */
  readonly twitter: readonly Property[];
  /** Open Graph names given in `name` instead of `property`; X names the other way round are fine. */
  readonly misplaced: readonly string[];
  /** Names that stand in the body. */
  readonly inBody: readonly string[];
  /** There are more than are looked at. */
  readonly truncated: boolean;
}

/** og and the namespaces of its object types (ogp.me, "Object Types"), with Facebook's own. */
const OPEN_GRAPH = /^(?:og|article|book|profile|music|video|product|place|business|restaurant|fb|al):/;
const MAX_PROPERTIES = 1000;
const MAX_NAME = 200;
const INERT = new Set(["template"]);

/** Reads the social meta elements, wherever they stand. Scripts do not run for preview makers, so noscript counts. */
export function readSocialTags({ document }: Page): SocialTags {
  const properties: Property[] = [];
  const twitter: Property[] = [];
  const misplaced = new Set<string>();
  const inBody = new Set<string>();
  let truncated = false;
  for (const meta of walkElements(document.root, INERT)) {
    if (meta.name !== "meta") continue;
    const content = attribute(meta, "content");
    if (content === null) continue;
    for (const { name, own } of namesOf(meta)) {
      const isOpenGraph = OPEN_GRAPH.test(name);
      if (!isOpenGraph && !name.startsWith("twitter:")) continue;
      if (properties.length + twitter.length >= MAX_PROPERTIES) {
        truncated = true;
        break;
      }
      (isOpenGraph ? properties : twitter).push([name, content]);
      if (isOpenGraph && !own) misplaced.add(name);
      if (isInside(meta, "body")) inBody.add(name);
    }
  }
  return { properties, twitter, misplaced: [...misplaced], inBody: [...inBody], truncated };
}

/** property may hold several names (RDFa); name holds one. */
function namesOf(meta: Element): { name: string; own: boolean }[] {
  const own = (attribute(meta, "property") ?? "").toLowerCase().split(/\s+/).filter(isName);
  if (own.length > 0) return own.map((name) => ({ name, own: true }));
  const name = (attribute(meta, "name") ?? "").toLowerCase();
  return isName(name) ? [{ name, own: false }] : [];
}

function isName(name: string): boolean {
  return name !== "" && name.length <= MAX_NAME;
}
