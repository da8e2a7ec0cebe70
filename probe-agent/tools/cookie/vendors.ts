/** Purpose of a cookie, derived from its name. lb: load balancing, keeps a visitor on one server. */
export type CookiePurpose = "session" | "csrf" | "analytics" | "ads" | "lb" | "unknown";

/** Vendor and purpose of a cookie with a known name. */
interface KnownCookie {
  readonly vendor: string;
  readonly purpose: CookiePurpose;
}

/**
 * Cookies by name, as their vendors document them; the first match wins. The sources are the vendors' own pages on
 * their cookies: Google (policies.google.com/technologies/cookies, support.google.com/analytics/answer/11397207), Meta
 * (facebook.com/privacy/policies/cookies), Microsoft (learn.microsoft.com: Clarity cookie list, UET, App Service and
 * Application Gateway affinity), LinkedIn (linkedin.com/legal/l/cookie-table), TikTok, Snap, Pinterest, Reddit, X
 * (their help pages on the pixel), Yandex (yandex.com/support/metrica/general/cookie-usage), Matomo (matomo.org/faq,
 * "What are the cookies created by Matomo"), Hotjar, Mixpanel, Amplitude, Segment, Optimizely, VWO, HubSpot, Marketo,
 * Pardot, Adobe (experienceleague: Analytics and ECID cookies), Quantcast, Criteo, Cloudflare
 * (developers.cloudflare.com, "Cloudflare cookies"), AWS (Elastic Load Balancing, sticky sessions), Google Cloud
 * (session affinity), F5, Heroku, Imperva, Akamai, DataDome, Shopify, and the manuals of PHP, Jakarta Servlet,
 * ASP.NET, Django, Laravel, Express, WordPress, Drupal.
 */
const KNOWN: readonly (readonly [RegExp, string, CookiePurpose])[] = [
  [/^(?:_ga(?:$|_)|_gid$|_gat|__utm[abctvxz]{1,2}$)/, "Google Analytics", "analytics"],
  [/^(?:_gcl_|IDE$|test_cookie$|__gads$|__gpi$|DSID$|ANID$|NID$|_gac_)/, "Google Ads", "ads"],
  [/^(?:__Secure-\dPSID|SAPISID$|APISID$|HSID$|SSID$)/, "Google", "session"],
  [/^(?:_fbp|_fbc|fr)$/, "Meta", "ads"],
  [/^(?:_clck|_clsk|CLID)$/, "Microsoft Clarity", "analytics"],
  [/^(?:_uetsid|_uetvid|_uetmsclkid|MUID|MUIDB)$/, "Microsoft Advertising", "ads"],
  [/^ai_(?:user|session)$/, "Azure Application Insights", "analytics"],
  [/^_hj/, "Hotjar", "analytics"],
  [/^(?:_pk_(?:id|ses|ref|cvar|hsr)\b|MATOMO_SESSID$|mtm_)/, "Matomo", "analytics"],
  [/^mp_.+_mixpanel$/, "Mixpanel", "analytics"],
  [/^(?:amp_|AMP_|amplitude_id)/, "Amplitude", "analytics"],
  [/^ajs_/, "Segment", "analytics"],
  [/^optimizely/i, "Optimizely", "analytics"],
  [/^(?:_vwo|_vis_opt_)/, "VWO", "analytics"],
  [/^(?:hubspotutk|__hstc|__hssc|__hssrc)$/, "HubSpot", "analytics"],
  [/^_mkto_trk$/, "Adobe Marketo", "analytics"],
  [/^(?:visitor_id\d+|pardot$)/, "Salesforce Pardot", "analytics"],
  [/^(?:AMCVS?_|s_(?:cc|sq|vi|fid|ecid)$|demdex$)/, "Adobe Experience Cloud", "analytics"],
  [/^(?:_ym_|yandexuid$|ymex$)/, "Yandex Metrica", "analytics"],
  [/^(?:bcookie|bscookie|lidc|li_(?:gc|sugr|fat_id|giant)|UserMatchHistory|AnalyticsSyncHistory)$/, "LinkedIn", "ads"],
  [/^(?:_ttp|_tt_enable_cookie|ttclid)$/, "TikTok", "ads"],
  [/^(?:_scid|_scid_r|_sctr)$/, "Snap", "ads"],
  [/^(?:_pin_unauth|_pinterest_ct_ua|_pinterest_sess)$/, "Pinterest", "ads"],
  [/^_rdt_uuid$/, "Reddit", "ads"],
  [/^(?:muc_ads|personalization_id|guest_id(?:_ads|_marketing)?)$/, "X", "ads"],
  [/^__qca$/, "Quantcast", "ads"],
  [/^cto_(?:bundle|bidid|tld_test)$/, "Criteo", "ads"],
  [/^_shopify_(?:[sy]|sa_)/, "Shopify", "analytics"],
  [/^__cflb$/, "Cloudflare", "lb"],
  [/^(?:__cf_bm|cf_clearance|_cfuvid|__cfruid|__cfseq)$/, "Cloudflare", "unknown"],
  [/^AWS(?:ALB|ELB)/, "AWS Elastic Load Balancing", "lb"],
  [/^GCLB$/, "Google Cloud Load Balancing", "lb"],
  [/^(?:ARRAffinity|ApplicationGatewayAffinity|ASLBSA)/, "Microsoft Azure", "lb"],
  [/^BIGipServer/, "F5 BIG-IP", "lb"],
  [/^heroku-session-affinity$/, "Heroku", "lb"],
  [/^nlbi_/, "Imperva", "lb"],
  [/^(?:visid_incap_|incap_ses_)/, "Imperva", "unknown"],
  [/^(?:ak_bmsc|bm_s[vz]|_abck)$/, "Akamai", "unknown"],
  [/^datadome$/, "DataDome", "unknown"],
  [/^PHPSESSID$/, "PHP", "session"],
  [/^JSESSIONID/, "Jakarta Servlet", "session"],
  [/^(?:ASPSESSIONID|ASP\.NET_SessionId$|\.ASPXAUTH$)/, "ASP.NET", "session"],
  [/^\.AspNetCore\.Antiforgery/, "ASP.NET Core", "csrf"],
  [/^\.AspNetCore\./, "ASP.NET Core", "session"],
  [/^csrftoken$/, "Django", "csrf"],
  [/^sessionid$/, "Django", "session"],
  [/^laravel_session$/, "Laravel", "session"],
  [/^connect\.sid$/, "Express", "session"],
  [/^wordpress_(?:logged_in|sec)_/, "WordPress", "session"],
  [/^S?SESS[0-9a-f]{32}$/, "Drupal", "session"],
];

/** Maximum number of characters of a name that are examined. */
const MAX_NAME = 256;

/** Finds the vendor of a cookie by its name; null if it is not listed. Prefixes (__Host-, __Secure-) are ignored. */
export function knownCookie(name: string): KnownCookie | null {
  const seen = name.slice(0, MAX_NAME);
  const bare = seen.replace(/^__(?:Host|Secure)-/i, "");
  const found = KNOWN.find(([pattern]) => pattern.test(seen) || pattern.test(bare));
  return found === undefined ? null : { vendor: found[1], purpose: found[2] };
}
