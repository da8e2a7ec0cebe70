import { describe, expect, it } from "vitest";
import { cookiePurpose } from "#probe-agent/tools/cookie/purpose.ts";
import { knownCookie } from "#probe-agent/tools/cookie/vendors.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { isSameSite, siteOf } from "#probe-agent/analysis/http/same-site.ts";
import { findTrackers, findTracker } from "#probe-agent/tools/cookie/trackers.ts";

function find(html: string, host = "www.example.com") {
  return findTrackers(readHtml(html), host).map((one) => `${one.host} ${one.vendor} ${one.category} ${one.found_in}`);
}

describe("trackers in a page", () => {
  it("are found in elements that load", () => {
    const html =
      "<script src=//www.google-analytics.com/a.js></script><iframe src=HTTPS://Bat.Bing.com/x></iframe>" +
      "<img src='https://static.hotjar.com:8443/x?y=https://criteo.com'><link rel=preconnect href=https://cdn.segment.com>";
    expect(find(html)).toEqual([
      "www.google-analytics.com Google Analytics analytics element",
      "bat.bing.com Microsoft Advertising ads element",
      "static.hotjar.com Hotjar session_replay element",
      "criteo.com Criteo ads element",
      "cdn.segment.com Segment analytics element",
    ]);
  });

  it("are found in inline scripts, escaped or not, and in the fallbacks in noscript", () => {
    const html =
      "<script>j.src='https://www.googletagmanager.com/gtm.js?id='+i; x=\"https:\\/\\/script.crazyegg.com\\/p\"</script>" +
      "<noscript><iframe src=https://www.googletagmanager.com/ns.html></iframe></noscript>";
    expect(find(html)).toEqual([
      "www.googletagmanager.com Google Tag Manager tag_manager element",
      "script.crazyegg.com Crazy Egg session_replay script",
    ]);
  });

  it("are not found in links, templates, comments, similar names or hosts of the same site", () => {
    const html =
      "<a href=https://plausible.io/>x</a><template><script src=https://plausible.io/></script></template>" +
      "<!-- <script src=https://plausible.io/></script> --><script src=https://notplausible.io/ ></script>" +
      "<script src=https://plausible.io.example.net/></script>";
    expect(find(html)).toEqual([]);
    expect(find("<script src=https://cdn.hotjar.com/x>", "www.hotjar.com")).toEqual([]);
  });

  it("are listed up to 100, and found fast in a page of 5 MB", () => {
    const many = Array.from({ length: 300 }, (_, n) => `<img src=https://s${n}.taboola.com/>`).join("");
    expect(find(many)).toHaveLength(100);
    for (const filler of [
      "<a href=https://plausible.io/x>y</a>",
      "<img src=//a.b>",
      "<script>//a.b.c.d.e</script>",
      "<link>",
    ]) {
      find(filler.repeat(Math.floor(5_000_000 / filler.length)));
    }
    for (const text of ["a.", "//", "a-", "https:"]) find(`<script>${text.repeat(2_500_000)}</script>`);
  });
});

it("finds a host by its most specific entry", () => {
  expect(findTracker("stats.g.doubleclick.net.")?.vendor).toBe("Google Ads");
  expect([findTracker("net"), findTracker(""), findTracker("example.com"), findTracker("facebook.com")]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

describe("cookies by name", () => {
  it.each([
    ["_ga_ABC123", "Google Analytics", "analytics"],
    ["__Secure-3PSID", "Google", "session"],
    ["AWSALBCORS", "AWS Elastic Load Balancing", "lb"],
    ["csrftoken", "Django", "csrf"],
    ["__Host-PHPSESSID", "PHP", "session"],
    ["__cf_bm", "Cloudflare", "unknown"],
    ["IDE", "Google Ads", "ads"],
    ["ide", null, "unknown"],
    ["XSRF-TOKEN", null, "csrf"],
    ["my_session", null, "session"],
    ["theme", null, "unknown"],
    ["", null, "unknown"],
    ["_garden", null, "unknown"],
  ])("%s belongs to %s, for %s", (name, vendor, purpose) => {
    expect([knownCookie(name)?.vendor ?? null, cookiePurpose(name)]).toEqual([vendor, purpose]);
  });
});

it("separates sites as browsers do", () => {
  expect([siteOf("a.b.example.co.uk"), siteOf("x.github.io"), siteOf("[::1]"), siteOf("com")]).toEqual([
    "example.co.uk",
    "x.github.io",
    "::1",
    "com",
  ]);
  expect([isSameSite("a.github.io", "b.github.io"), isSameSite("WWW.example.com", "example.com")]).toEqual([
    false,
    true,
  ]);
});
