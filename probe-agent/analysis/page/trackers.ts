import type { Element } from "domhandler";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { textOf, walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";
import { trackerOf, type TrackerCategory } from "#probe-agent/analysis/page/trackers/hosts.ts";

/** A tracker's host that a page names. */
interface FoundTracker {
  readonly host: string;
  readonly vendor: string;
  readonly category: TrackerCategory;
  /** element: the page itself loads it; script: an inline script names it, and so may load it. */
  readonly found_in: "element" | "script";
}

/** Hosts listed. */
const MAX_TRACKERS = 100;
/** Characters of one inline script looked at, and of an address. */
const MAX_SCRIPT = 500_000;
const MAX_ADDRESS = 2048;
const TEMPLATES: ReadonlySet<string> = new Set(["template"]);
const ADDRESS_ATTRIBUTES = ["src", "href", "data", "srcset", "poster"];
/** Links that a browser follows by itself; others are for people. */
const LOADING = new Set([
  "img",
  "script",
  "iframe",
  "frame",
  "embed",
  "object",
  "source",
  "video",
  "audio",
  "link",
  "input",
]);
/** An absolute or protocol-relative address, its slashes maybe escaped as in JSON. */
const HOSTS = /(?:https?:)?(?:\/\/|\\\/\\\/)([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10})/gi;

/**
 * Known trackers of other sites that a page's elements load or its inline scripts name, noscript's fallbacks included;
 * by host, each once, in document order. What scripts load later is not seen.
 */
export function findTrackers(page: Page, pageHost: string): FoundTracker[] {
  const found = new Map<string, FoundTracker>();
  for (const element of walkElements(page.document.root, TEMPLATES)) {
    if (!LOADING.has(element.name)) continue;
    for (const host of hostsIn(addressesOf(element))) note(found, host, "element", pageHost);
    if (element.name !== "script") continue;
    for (const host of hostsIn(textOf(element, MAX_SCRIPT))) note(found, host, "script", pageHost);
  }
  return [...found.values()].slice(0, MAX_TRACKERS);
}

/** The trackers of a page as it was read; none in an answer that is no HTML, null where the HTML was left out. */
export function trackersReport({ page, url, unread }: ReadPage): FoundTracker[] | null {
  if (page === null) return unread ? null : [];
  return findTrackers(page, new URL(url).hostname);
}

function addressesOf(element: Element): string {
  return ADDRESS_ATTRIBUTES.map((name) => attribute(element, name)?.slice(0, MAX_ADDRESS) ?? "").join(" ");
}

function hostsIn(text: string): Set<string> {
  const hosts = new Set<string>();
  for (const [, host = ""] of text.matchAll(HOSTS)) hosts.add(host.toLowerCase());
  return hosts;
}

function note(found: Map<string, FoundTracker>, host: string, where: FoundTracker["found_in"], pageHost: string): void {
  const earlier = found.get(host);
  if (earlier?.found_in === "element" || (earlier !== undefined && where === "script")) return;
  const tracker = trackerOf(host);
  if (tracker === null || isSameSite(host, pageHost)) return;
  found.set(host, { host, ...tracker, found_in: where });
}
