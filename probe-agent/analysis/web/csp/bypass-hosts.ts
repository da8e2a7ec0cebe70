import { readHostSource, type HostSource } from "#probe-agent/analysis/web/csp/sources.ts";

/**
 * Hosts that policies often allow and that are publicly known to serve JSONP endpoints or AngularJS. Both let an
 * attacker run code despite an allow-list (Weichselbaum et al., "CSP Is Dead, Long Live CSP!", CCS 2016, and the public
 * lists that grew from it). `needsEval`: the bypass works only together with 'unsafe-eval'.
 */
const HOSTS: Readonly<Record<string, { readonly serves: string; readonly needsEval?: true }>> = {
  "ajax.googleapis.com": { serves: "AngularJS and JSONP" },
  "cdnjs.cloudflare.com": { serves: "AngularJS" },
  "cdn.jsdelivr.net": { serves: "any npm package, AngularJS among them" },
  "unpkg.com": { serves: "any npm package, AngularJS among them" },
  "esm.sh": { serves: "any npm package" },
  "cdn.skypack.dev": { serves: "any npm package" },
  "code.angularjs.org": { serves: "AngularJS" },
  "cdn.bootcss.com": { serves: "AngularJS" },
  "yastatic.net": { serves: "AngularJS" },
  "oss.maxcdn.com": { serves: "AngularJS" },
  "www.gstatic.com": { serves: "AngularJS" },
  "raw.githubusercontent.com": { serves: "anyone's files" },
  "cdn.rawgit.com": { serves: "anyone's files" },
  "accounts.google.com": { serves: "JSONP" },
  "www.google.com": { serves: "JSONP" },
  "clients1.google.com": { serves: "JSONP" },
  "cse.google.com": { serves: "JSONP" },
  "maps.googleapis.com": { serves: "JSONP" },
  "translate.googleapis.com": { serves: "JSONP" },
  "www.googleapis.com": { serves: "JSONP" },
  "www.youtube.com": { serves: "JSONP" },
  "googleads.g.doubleclick.net": { serves: "JSONP" },
  "securepubads.g.doubleclick.net": { serves: "JSONP" },
  "www.googletagmanager.com": { serves: "JSONP", needsEval: true },
  "www.google-analytics.com": { serves: "JSONP", needsEval: true },
  "ssl.google-analytics.com": { serves: "JSONP", needsEval: true },
  "www.googleadservices.com": { serves: "JSONP", needsEval: true },
  "graph.facebook.com": { serves: "JSONP" },
  "api.twitter.com": { serves: "JSONP" },
  "syndication.twitter.com": { serves: "JSONP" },
  "api.vk.com": { serves: "JSONP" },
  "mc.yandex.ru": { serves: "JSONP" },
  "api.flickr.com": { serves: "JSONP" },
  "vimeo.com": { serves: "JSONP" },
  "links.services.disqus.com": { serves: "JSONP" },
  "nominatim.openstreetmap.org": { serves: "JSONP" },
  "api.mixpanel.com": { serves: "JSONP" },
};

/** Returns the known bypass host that a script source allows; null if none is known, which does not prove it safe. */
export function bypassHost(source: string, evalAllowed: boolean): { host: string; serves: string } | null {
  const allowed = readHostSource(source);
  if (allowed === null || (allowed.path !== "" && !allowed.path.endsWith("/"))) return null;
  const found = Object.entries(HOSTS).find(
    ([host, known]) => covers(allowed, host) && (evalAllowed || known.needsEval !== true),
  );
  return found === undefined ? null : { host: found[0], serves: found[1].serves };
}

function covers(allowed: HostSource, host: string): boolean {
  if (allowed.host === "*") return false;
  return allowed.host.startsWith("*.") ? host.endsWith(allowed.host.slice(1)) : allowed.host === host;
}
