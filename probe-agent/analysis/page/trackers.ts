import type { Element } from "domhandler";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { textOf, walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";
import { findTracker, type TrackerCategory } from "#probe-agent/analysis/page/trackers/hosts.ts";

/** Host of a tracker that a page loads or names. */
interface FoundTracker {
  readonly host: string;
  readonly vendor: string;
  readonly category: TrackerCategory;
  /** element: the page itself loads it. script: an inline script names it and can load it. */
  readonly found_in: "element" | "script";
}

/** Maximum number of hosts listed. */
const MAX_TRACKERS = 100;
/** Maximum number of characters read of one inline script and of one address. */
const MAX_SCRIPT = 500_000;
const MAX_ADDRESS = 2048;
const TEMPLATES: ReadonlySet<string> = new Set(["template"]);
const ADDRESS_ATTRIBUTES = ["src", "href", "data", "srcset", "poster"];
/** Elements whose addresses a browser loads by itself. Addresses of other elements are followed by a click. */
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
/** Absolute or protocol-relative address. Its slashes can be escaped as in JSON. */
const HOSTS = /(?:https?:)?(?:\/\/|\\\/\\\/)([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10})/gi;

/**
 * Finds the known trackers of other sites that a page's elements load or its inline scripts name, including the
 * fallbacks in noscript. Returns each host once, in document order. Does not see what scripts load later.
 */
export function findTrackers(page: Page, pageHost: string): FoundTracker[] {
  const found = new Map<string, FoundTracker>();
  for (const element of walkElements(page.document.root, TEMPLATES)) {
    if (!LOADING.has(element.name)) continue;
    for (const host of findHosts(joinAddresses(element))) addTracker(found, host, "element", pageHost);
    if (element.name !== "script") continue;
    for (const host of findHosts(textOf(element, MAX_SCRIPT))) addTracker(found, host, "script", pageHost);
  }
  return [...found.values()].slice(0, MAX_TRACKERS);
}

/** Reports the trackers of a page. Returns [] if the response is not HTML, and null if the HTML was not read. */
export function trackersReport({ page, url, unread }: ReadPage): FoundTracker[] | null {
  if (page === null) return unread ? null : [];
  return findTrackers(page, new URL(url).hostname);
}

function joinAddresses(element: Element): string {
  return ADDRESS_ATTRIBUTES.map((name) => attribute(element, name)?.slice(0, MAX_ADDRESS) ?? "").join(" ");
}

function findHosts(text: string): Set<string> {
  const hosts = new Set<string>();
  for (const [, host = ""] of text.matchAll(HOSTS)) hosts.add(host.toLowerCase());
  return hosts;
}

function addTracker(
  found: Map<string, FoundTracker>,
  host: string,
  where: FoundTracker["found_in"],
  pageHost: string,
): void {
  const earlier = found.get(host);
  if (earlier?.found_in === "element" || (earlier !== undefined && where === "script")) return;
  const tracker = findTracker(host);
  if (tracker === null || isSameSite(host, pageHost)) return;
  found.set(host, { host, ...tracker, found_in: where });
}
