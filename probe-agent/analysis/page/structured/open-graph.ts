import type { Element } from "domhandler";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, isInside } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";

/** The name and the content of a meta element. */
export type Property = readonly [name: string, content: string];

/** Contents of the Open Graph and X card meta elements of a page. */
export interface SocialTags {
  /** Open Graph properties (ogp.me) in document order with repeats. Names are in lower case, contents unchanged. */
  readonly properties: readonly Property[];
  /** X card properties (twitter:*) in document order with repeats. */
  readonly twitter: readonly Property[];
  /** Open Graph names in a `name` attribute instead of `property`. X accepts its names in both attributes. */
  readonly misplaced: readonly string[];
  /** Names of the meta elements in the body. */
  readonly inBody: readonly string[];
  /** Whether the page has more of these elements than are read. */
  readonly truncated: boolean;
}

/** Prefixes of Open Graph: og, the namespaces of its object types (ogp.me, "Object Types"), and those of Facebook. */
const OPEN_GRAPH = /^(?:og|article|book|profile|music|video|product|place|business|restaurant|fb|al):/;
const MAX_PROPERTIES = 1000;
const MAX_NAME = 200;
const INERT = new Set(["template"]);

/**
 * Reads the social meta elements, in any part of the page. Elements inside noscript count, because the services that
 * make previews run no scripts.
 */
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
    for (const { name, inProperty } of namesOf(meta)) {
      const isOpenGraph = OPEN_GRAPH.test(name);
      if (!isOpenGraph && !name.startsWith("twitter:")) continue;
      if (properties.length + twitter.length >= MAX_PROPERTIES) {
        truncated = true;
        break;
      }
      (isOpenGraph ? properties : twitter).push([name, content]);
      if (isOpenGraph && !inProperty) misplaced.add(name);
      if (isInside(meta, "body")) inBody.add(name);
    }
  }
  return { properties, twitter, misplaced: [...misplaced], inBody: [...inBody], truncated };
}

/**
 * Returns the names of a meta element. A `property` attribute can hold several names (RDFa); a `name` attribute holds
 * one. `inProperty`: whether the name is in `property`.
 */
function namesOf(meta: Element): { name: string; inProperty: boolean }[] {
  const names = (attribute(meta, "property") ?? "").toLowerCase().split(/\s+/).filter(isName);
  if (names.length > 0) return names.map((name) => ({ name, inProperty: true }));
  const name = (attribute(meta, "name") ?? "").toLowerCase();
  return isName(name) ? [{ name, inProperty: false }] : [];
}

function isName(name: string): boolean {
  return name !== "" && name.length <= MAX_NAME;
}
