import type { Element } from "domhandler";
import { definePageAnalysis, type Page, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import { textOf, walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";

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
function trackersReport({ page, url, unread }: ReadPage): FoundTracker[] | null {
  if (page === null) return unread ? null : [];
  return findTrackers(page, new URL(url).hostname);
}

/** Trackers of a page. */
export const trackersAnalysis = definePageAnalysis("trackers", trackersReport);

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

/** Purpose of a tracker. */
type TrackerCategory = "analytics" | "ads" | "tag_manager" | "session_replay" | "testing" | "marketing" | "social";

/** Operator and purpose of a tracker's host. */
interface Tracker {
  readonly vendor: string;
  readonly category: TrackerCategory;
}

/**
 * Hosts, including their subdomains, that pages load to measure their visitors or to show them advertising. They are
 * taken from the vendors' manuals, which tell site owners to embed them or to allow them in a Content-Security-Policy.
 * The list is Vantage's own and not complete.
 */
const VENDORS: readonly (readonly [vendor: string, category: TrackerCategory, hosts: string])[] = [
  ["Google Analytics", "analytics", "google-analytics.com analytics.google.com"],
  ["Google Tag Manager", "tag_manager", "googletagmanager.com googletagservices.com"],
  ["Google Ads", "ads", "doubleclick.net googlesyndication.com googleadservices.com adservice.google.com"],
  ["Meta", "ads", "connect.facebook.net pixel.facebook.com"],
  ["Meta", "social", "www.facebook.com"],
  ["Microsoft Advertising", "ads", "bat.bing.com bat.bing.net"],
  ["Microsoft Clarity", "session_replay", "clarity.ms"],
  ["LinkedIn", "ads", "snap.licdn.com ads.linkedin.com px.ads.linkedin.com"],
  ["TikTok", "ads", "analytics.tiktok.com"],
  ["Snap", "ads", "sc-static.net tr.snapchat.com"],
  ["Pinterest", "ads", "ct.pinterest.com"],
  ["X", "ads", "ads-twitter.com analytics.twitter.com ads-api.twitter.com"],
  ["Reddit", "ads", "alb.reddit.com pixel-config.reddit.com"],
  ["Quora", "ads", "q.quora.com a.quora.com"],
  ["Amazon Ads", "ads", "amazon-adsystem.com"],
  ["Criteo", "ads", "criteo.com criteo.net"],
  ["Taboola", "ads", "taboola.com"],
  ["Outbrain", "ads", "outbrain.com"],
  ["Xandr", "ads", "adnxs.com"],
  ["Magnite", "ads", "rubiconproject.com"],
  ["PubMatic", "ads", "pubmatic.com"],
  ["OpenX", "ads", "openx.net"],
  ["Index Exchange", "ads", "casalemedia.com indexww.com"],
  ["The Trade Desk", "ads", "adsrvr.org"],
  ["LiveRamp", "ads", "rlcdn.com"],
  ["Adform", "ads", "adform.net"],
  ["Equativ", "ads", "smartadserver.com"],
  ["Teads", "ads", "teads.tv"],
  ["Media.net", "ads", "media.net"],
  ["Quantcast", "ads", "quantserve.com quantcount.com"],
  ["Yandex Metrica", "analytics", "mc.yandex.ru mc.yandex.com"],
  ["Yandex Direct", "ads", "an.yandex.ru"],
  ["Baidu Tongji", "analytics", "hm.baidu.com"],
  ["VK", "analytics", "top-fwz1.mail.ru"],
  ["Comscore", "analytics", "scorecardresearch.com"],
  ["Adobe Experience Cloud", "analytics", "demdex.net omtrdc.net 2o7.net adobedc.net everesttech.net"],
  ["Adobe Tags", "tag_manager", "assets.adobedtm.com"],
  ["Tealium", "tag_manager", "tiqcdn.com tealiumiq.com"],
  ["Matomo", "analytics", "matomo.cloud"],
  ["Piwik PRO", "analytics", "piwik.pro"],
  ["Plausible", "analytics", "plausible.io"],
  ["Fathom", "analytics", "usefathom.com"],
  ["Simple Analytics", "analytics", "simpleanalyticscdn.com simpleanalytics.com"],
  ["Cloudflare Web Analytics", "analytics", "cloudflareinsights.com"],
  ["Umami", "analytics", "cloud.umami.is"],
  ["StatCounter", "analytics", "statcounter.com"],
  ["Histats", "analytics", "histats.com"],
  ["Mixpanel", "analytics", "mixpanel.com mxpnl.com"],
  ["Amplitude", "analytics", "amplitude.com"],
  ["Segment", "analytics", "cdn.segment.com api.segment.io"],
  ["RudderStack", "analytics", "rudderlabs.com rudderstack.com"],
  ["Heap", "analytics", "heapanalytics.com heap-api.com"],
  ["PostHog", "analytics", "posthog.com"],
  ["Parse.ly", "analytics", "parsely.com"],
  ["Chartbeat", "analytics", "chartbeat.com chartbeat.net"],
  ["New Relic", "analytics", "js-agent.newrelic.com nr-data.net"],
  ["Hotjar", "session_replay", "hotjar.com hotjar.io"],
  ["FullStory", "session_replay", "fullstory.com"],
  ["Mouseflow", "session_replay", "mouseflow.com"],
  ["Lucky Orange", "session_replay", "luckyorange.com luckyorange.net"],
  ["Smartlook", "session_replay", "smartlook.com smartlook.cloud"],
  ["LogRocket", "session_replay", "logrocket.io logrocket.com lr-ingest.io lr-in.com"],
  ["Contentsquare", "session_replay", "contentsquare.net contentsquare.com"],
  ["Quantum Metric", "session_replay", "quantummetric.com"],
  ["Crazy Egg", "session_replay", "script.crazyegg.com"],
  ["Inspectlet", "session_replay", "inspectlet.com"],
  ["Optimizely", "testing", "optimizely.com"],
  ["VWO", "testing", "visualwebsiteoptimizer.com"],
  ["AB Tasty", "testing", "abtasty.com"],
  ["Kameleoon", "testing", "kameleoon.eu kameleoon.com"],
  ["Dynamic Yield", "testing", "dynamicyield.com"],
  ["HubSpot", "marketing", "hs-analytics.net hs-scripts.com hs-banner.com hsadspixel.net track.hubspot.com"],
  ["Adobe Marketo", "marketing", "marketo.net mktoresp.com"],
  ["Salesforce Pardot", "marketing", "pardot.com"],
  ["Klaviyo", "marketing", "klaviyo.com"],
  ["Braze", "marketing", "appboycdn.com braze.com braze.eu"],
  ["6sense", "marketing", "6sc.co"],
  ["Demandbase", "marketing", "demandbase.com company-target.com"],
];

const BY_HOST: ReadonlyMap<string, Tracker> = new Map(
  VENDORS.flatMap(([vendor, category, hosts]) => hosts.split(" ").map((host) => [host, { vendor, category }] as const)),
);

/** Finds the tracker of a host by its most specific entry in the list. Returns null if the host is not in the list. */
export function findTracker(host: string): Tracker | null {
  for (let name = host.toLowerCase().replace(/\.$/, ""); name.includes("."); name = name.slice(name.indexOf(".") + 1)) {
    const found = BY_HOST.get(name);
    if (found !== undefined) return found;
  }
  return null;
}
