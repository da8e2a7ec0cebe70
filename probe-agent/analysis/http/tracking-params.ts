/** A parameter that records where a click came from and does not change the page. */
interface TrackingParam {
  /** Name as in the URL, percent-decoded. */
  readonly name: string;
  readonly vendor: string;
}

/** Exact names in lower case, from the vendors' documentation of their own links. */
const NAMES: ReadonlyMap<string, string> = new Map(
  (
    [
      ["Google Ads", "gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid gad srsltid"],
      ["Google Analytics", "_ga _gl"],
      ["Meta", "fbclid fb_action_ids fb_action_types fb_source fb_ref"],
      ["Instagram", "igshid igsh ig_rid"],
      ["Microsoft Advertising", "msclkid"],
      ["X", "twclid"],
      ["TikTok", "ttclid"],
      ["LinkedIn", "li_fat_id"],
      ["Pinterest", "epik"],
      ["Reddit", "rdt_cid"],
      ["Snapchat", "sccid"],
      ["Yandex", "yclid ysclid ymclid _openstat"],
      ["Mailchimp", "mc_cid mc_eid mc_tc"],
      ["HubSpot", "_hsenc _hsmi __hssc __hstc __hsfp hsctatracking"],
      ["Marketo", "mkt_tok"],
      ["Klaviyo", "_kx"],
      ["Drip", "__s"],
      ["Vero", "vero_id vero_conv"],
      ["Olytics", "oly_anon_id oly_enc_id"],
      ["Wicked Reports", "wickedid"],
      ["Adobe", "s_kwcid ef_id s_cid"],
      ["Branch", "_branch_match_id _branch_referrer"],
      ["Impact", "irclickid irgwc"],
      ["Rakuten", "ranmid raneaid ransiteid"],
      ["Awin", "awc"],
      ["Alibaba", "spm scm"],
      ["Baidu", "bd_vid"],
    ] as const
  ).flatMap(([vendor, names]) => names.split(" ").map((name) => [name, vendor] as const)),
);

/** Prefixes of names, in lower case. */
const PREFIXES: readonly (readonly [prefix: string, vendor: string])[] = [
  ["utm_", "Google Analytics (UTM)"],
  ["mtm_", "Matomo"],
  ["matomo_", "Matomo"],
  ["pk_", "Matomo"],
  ["piwik_", "Matomo"],
  ["hsa_", "HubSpot"],
];

/** Names that are tracking parameters only on certain sites, subdomains included. */
const BY_SITE: readonly (readonly [site: RegExp, names: readonly string[], vendor: string])[] = [
  [/(^|\.)(youtube\.com|youtu\.be)$/, ["si", "feature", "pp"], "YouTube"],
  [/(^|\.)(spotify\.com|spotify\.link)$/, ["si", "nd"], "Spotify"],
  [/(^|\.)(twitter|x)\.com$/, ["s", "t", "ref_src", "ref_url"], "X"],
  [/(^|\.)amazon\.[a-z.]{2,6}$/, ["ref_", "pd_rd_r", "pd_rd_w", "pd_rd_wg", "pf_rd_p", "pf_rd_r"], "Amazon"],
  [/(^|\.)reddit\.com$/, ["share_id", "rdt"], "Reddit"],
  [/(^|\.)tiktok\.com$/, ["_r", "_t", "is_from_webapp", "sender_device"], "TikTok"],
];

/** Maximum number of parameters listed. */
const MAX_LISTED = 100;

/** Returns the tracking parameters of a URL's query, then of a fragment that has the form of a query. */
export function trackingParams(url: URL): TrackingParam[] {
  const parts = [...partsOf(url.search.slice(1)), ...fragmentParts(url)];
  return parts
    .flatMap((part) => {
      const name = nameOf(part);
      const vendor = vendorOf(name, url.hostname);
      return vendor === null ? [] : [{ name: name.slice(0, 200).toWellFormed(), vendor }];
    })
    .slice(0, MAX_LISTED);
}

/** Removes the tracking parameters from a URL. Everything else is unchanged and in its order. */
export function cleanUrl(url: URL): string {
  const isKeptForWeek = (part: string): boolean => vendorOf(nameOf(part), url.hostname) === null;
  const clean = new URL(url);
  const query = partsOf(url.search.slice(1));
  if (query.some((part) => !isKeptForWeek(part))) clean.search = query.filter(isKeptForWeek).join("&");
  const fragment = fragmentParts(url);
  if (fragment.some((part) => !isKeptForWeek(part))) clean.hash = fragment.filter(isKeptForWeek).join("&");
  return clean.href;
}

function partsOf(query: string): string[] {
  return query === "" ? [] : query.split("&");
}

/** Splits a fragment such as `#utm_source=x`, which some sites use to keep campaigns out of caches, but not `#top`. */
function fragmentParts({ hash }: URL): string[] {
  return hash.includes("=") ? partsOf(hash.slice(1)) : [];
}

function nameOf(part: string): string {
  const name = part.split("=", 1)[0] ?? "";
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}

function vendorOf(name: string, host: string): string | null {
  const lower = name.toLowerCase();
  const known = NAMES.get(lower) ?? PREFIXES.find(([prefix]) => lower.startsWith(prefix))?.[1];
  if (known !== undefined) return known;
  return BY_SITE.find(([site, names]) => names.includes(lower) && site.test(host))?.[2] ?? null;
}
