import { describe, expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { listAssets } from "#probe-agent/analysis/page/cms-assets.ts";
import { chooseSystems, lowerForeignConfidence } from "#probe-agent/tools/cms/choose.ts";
import { knownFiles, systemFolder } from "#probe-agent/tools/cms/files.ts";
import { findParts, shopifyTheme } from "#probe-agent/analysis/page/cms-parts.ts";
import { detect } from "#test/entry-points.ts";
import { builtInRules } from "#test/support/tech-corpus.ts";

const URL_OF_PAGE = "https://site.test/";
const RULES = builtInRules();

const assetsOf = (html: string) => listAssets(readHtml(html), URL_OF_PAGE);

/** Groups the technologies of a page, as for one that no front end renders. */
function choose(head: string, body = "") {
  const html = `<!doctype html><html><head>${head}</head><body>${body}</body></html>`;
  const found = detect({ url: URL_OF_PAGE, html }, RULES);
  return chooseSystems(found.map((one) => lowerForeignConfidence(one, assetsOf(html), URL_OF_PAGE)));
}

/** Returns the name and the confidence of each system, the best one first. */
function systemsOf(head: string, body = ""): string[] {
  return choose(head, body).systems.map(({ name, confidence }) => `${name} ${confidence}`);
}

const PICTURE = '<img src="https://blog.example.com/wp-content/uploads/a.jpg">';

describe("the system of a page", () => {
  it("is the one under a shop that is built on it", () => {
    const { systems, ecommerce } = choose('<script src="/wp-content/plugins/woocommerce/a.js?ver=8.4.0"></script>');
    expect(systems.map(({ name, version }) => [name, version])).toEqual([
      ["WordPress", null],
      ["WooCommerce", "8.4.0"],
    ]);
    expect(ecommerce).toBe("WooCommerce");
  });

  it.each([
    ["WordPress", "/wp-content/uploads/a.jpg"],
    ["Drupal", "/sites/default/files/a.jpg"],
    ["Sitecore", "/-/media/a.ashx"],
    ["Adobe Experience Manager", "/content/dam/site/a.png"],
    ["TYPO3", "/fileadmin/_processed_/a.jpg"],
  ])("is hardly %s because of an image of another site", (name, path) => {
    const foreign = `<img src="https://other.example${path}">`;
    expect(systemsOf("", foreign)).toEqual([`${name} 30`]);
    const [own] = choose("", `<img src="${path}">${foreign}`).systems;
    expect(own?.name).toBe(name);
    expect(own?.confidence).toBeGreaterThanOrEqual(50);
  });

  it.each([
    ["WordPress 100", '<link href="https://cdn.example/wp-content/themes/x/a.css" rel=stylesheet>', PICTURE],
    ["Hugo 100", '<meta name="generator" content="Hugo 0.121.1">', PICTURE],
    [
      "WordPress 100",
      '<meta name="generator" content="WordPress 6.4">',
      '<img src="https://images.ctfassets.net/a.jpg">',
    ],
    ["Kirby 60", "", '<img src="/media/pages/home/a.jpg"><div id=wrapper></div>'],
    ["MODX 40", '<script src="/assets/components/x.js"></script>', ""],
  ])("is %s by %s and %s", (best, head, body) => {
    expect(systemsOf(head, body)[0]).toBe(best);
  });
});

describe("a well-known file", () => {
  const read = (slug: string, path: string, text: string) =>
    knownFiles(slug)
      .find((file) => file.path === path)
      ?.read(text);
  const readIndex = (text: string) => read("wordpress", "wp-json/", text);

  it.each([
    [
      "wordpress",
      '<link href="/wp-content/themes/x/a.css">',
      "feed/",
      "<generator>https://wordpress.org/?v=6.3.1",
      "6.3.1",
    ],
    [
      "drupal",
      '<link href="/sites/default/files/css/a.css">',
      "CHANGELOG.txt",
      "\nDrupal 7.98, 2023-06-07\n---",
      "7.98",
    ],
    [
      "joomla",
      '<script class="joomla-script-options" type="application/json">{}</script>',
      "administrator/manifests/files/joomla.xml",
      "<extension><name>files_joomla</name><author>x</author><version>4.4.1</version></extension>",
      "4.4.1",
    ],
    [
      "ghost",
      '<link href="/public/cards.min.css">',
      "ghost/api/admin/site/",
      '{"site":{"title":"x","version":"5.75"}}',
      "5.75",
    ],
    ["magento", '<script type="text/x-magento-init">{}</script>', "magento_version", "Magento/2.4 (Community)", "2.4"],
    [
      "mediawiki",
      '<script src="/load.php?lang=en"></script>',
      "w/api.php?action=query&meta=siteinfo&format=json",
      '{"query":{"general":{"generator":"MediaWiki 1.39.3"}}}',
      "1.39.3",
    ],
    [
      "discourse",
      '<meta name="discourse_theme_id" content="1">',
      "about.json",
      '{"about":{"version":"3.2.0.beta1"}}',
      "3.2.0",
    ],
    ["phpbb", "</head><body id=phpbb>", "styles/prosilver/style.cfg", "x = y\nphpbb_version = 3.3.10\n", "3.3.10"],
  ])("of %s, found by %s, states the version in %s", (slug, head, path, text, version) => {
    expect(choose(head).systems[0]?.slug).toBe(slug);
    expect(read(slug, path, text)).toMatchObject({ version });
    const paths = knownFiles(slug).map((file) => file.path);
    expect(paths.length).toBeLessThanOrEqual(3);
    expect(paths.join(" ")).not.toMatch(/login|wp-admin|user\b/);
  });

  it("of WordPress lists the plugins that have an interface", () => {
    const namespaces = ["oembed/1.0", "wp/v2", "wp-site-health/v1", "yoast/v1", "wc/v3", "wc/v2"];
    expect(readIndex(JSON.stringify({ namespaces }))).toEqual({
      version: null,
      match: "namespace wp/v2",
      plugins: ["yoast", "wc"],
    });
  });

  it.each(["<title>wp/v2</title>", '{"namespaces":"wp/v2"}', '{"namespaces":[5,null,"acme/v1"]}', "{"])(
    "of WordPress is not %s",
    (text) => {
      expect(readIndex(text)).toBeNull();
    },
  );

  it("is below the folder that the addresses of the page show", () => {
    const assets = assetsOf('<link href="/blog/wp-content/themes/x/style.css"><img src="//o.test/a/wp-content/b.jpg">');
    expect(systemFolder("wordpress", assets, "site.test")).toBe("/blog/");
    expect(systemFolder("wordpress", assets, "other.test")).toBe("/");
  });
});

describe("themes and plugins", () => {
  it("have the version of their files unless those differ or have that of the system", () => {
    const assets = assetsOf(
      `<link href="/wp-content/themes/astra/style.css?ver=4.6.0"><link href="/wp-content/themes/astra/a.css?ver=4.6.0">
       <link href="/wp-content/themes/astra-child/style.css?ver=1.0">
       <script src="/wp-content/plugins/elementor/a.js?ver=3.18.3"></script>
       <script src="/wp-content/plugins/elementor/swiper.js?ver=8.4.5"></script>
       <script src="/wp-content/plugins/forms/a.js?ver=6.4.2"></script>
       <script src="/wp-content/mu-plugins/own/a.js?ver=1.5"></script>`,
    );
    expect(findParts("wordpress", assets, "6.4.2")).toEqual({
      theme: { name: "astra", version: "4.6.0" },
      plugins: [
        { name: "elementor", version: null },
        { name: "forms", version: null },
        { name: "own", version: "1.5" },
      ],
    });
  });

  it("are kept within bounds", () => {
    const many = Array.from({ length: 500 }, (_, n) => `<script src="/wp-content/plugins/plugin-${n}/a.js"></script>`);
    const odd = `<script src="/wp-content/plugins/${"x".repeat(1000)}/a.js"></script><link href="/wp-content/themes/<b>/x.css">`;
    const { theme, plugins } = findParts("wordpress", assetsOf(odd + many.join("")), null);
    expect([theme, plugins.length]).toEqual([null, 100]);
  });

  it("of a Shopify shop are in a script of its pages", () => {
    const script = (more: string) => `<script>Shopify.theme = {"name":"My \\u0041","id":1${more}};</script>`;
    expect(shopifyTheme(script(',"schema_name":"Dawn","schema_version":"15.0.0"'))).toEqual({
      name: "Dawn",
      version: "15.0.0",
    });
    expect(shopifyTheme(script(""))).toBeNull();
  });
});
