/** A page as a site of some product serves it, and the technologies to recognise in it. */
export interface MadePage {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly html: string;
  /** Each is "Name" or "Name version". */
  readonly expected: readonly string[];
}

function page(head: string, body = ""): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Site</title>${head}</head><body>${body}<p>Hello</p></body></html>`;
}

/** Small pages that we wrote after the pattern of common systems. */
export const MADE_PAGES: readonly MadePage[] = [
  {
    name: "WordPress with plugins",
    headers: {
      server: "nginx/1.24.0 (Ubuntu)",
      "x-powered-by": "PHP/8.2.12",
      link: '</wp-json/>; rel="https://api.w.org/"',
    },
    html: page(
      `<meta name="generator" content="WordPress 6.4.2"><meta name="generator" content="Elementor 3.18.3; features: none">
       <!-- This site is optimized with the Yoast SEO plugin v21.7 - https://yoast.com/ -->
       <link rel="stylesheet" href="/wp-content/plugins/contact-form-7/includes/css/styles.css?ver=5.8.5">
       <script src="/wp-includes/js/jquery/jquery.min.js?ver=3.7.1"></script>
       <script src="/wp-includes/js/jquery/jquery-migrate.min.js?ver=3.4.1"></script>`,
    ),
    expected: [
      "WordPress 6.4.2",
      "PHP 8.2.12",
      "Nginx 1.24.0",
      "Ubuntu",
      "MySQL",
      "jQuery 3.7.1",
      "jQuery Migrate 3.4.1",
      "Contact Form 7 5.8.5",
      "Elementor 3.18.3",
      "Yoast SEO 21.7",
    ],
  },
  {
    name: "WordPress and WooCommerce with the name removed",
    headers: { server: "LiteSpeed" },
    html: page(
      `<link rel="https://api.w.org/" href="/wp-json/"><link href="/wp-content/themes/storefront/style.css?ver=4.5.3" rel="stylesheet">`,
      `<div></div><script src="/wp-content/plugins/woocommerce/assets/js/frontend/add-to-cart.min.js?ver=8.4.0"></script>`,
    ),
    expected: ["WordPress", "WooCommerce 8.4.0", "LiteSpeed", "PHP", "MySQL"],
  },
  {
    name: "Drupal",
    headers: { server: "Apache", "x-generator": "Drupal 10 (https://www.drupal.org)", "x-drupal-cache": "HIT" },
    html: page(
      '<meta name="Generator" content="Drupal 10 (https://www.drupal.org)">',
      `<script type="application/json" data-drupal-selector="drupal-settings-json">{}</script>
       <script src="/core/misc/drupal.js?v=10.1.6"></script>`,
    ),
    expected: ["Drupal 10", "Apache HTTP Server", "PHP"],
  },
  {
    name: "Joomla",
    html: page(
      `<meta name="generator" content="Joomla! - Open Source Content Management">
       <script type="application/json" class="joomla-script-options new">{}</script>
       <script src="/media/system/js/core.min.js?37ffe4186289eba9c5df81bea44080aff77b9684"></script>`,
    ),
    expected: ["Joomla", "PHP"],
  },
  {
    name: "TYPO3",
    html: page(
      '<meta name="generator" content="TYPO3 CMS"><link href="/typo3temp/assets/css/a.css" rel="stylesheet">',
      "<!-- This website is powered by TYPO3 - inspiring people to share! -->",
    ),
    expected: ["TYPO3", "PHP"],
  },
  {
    name: "Ghost behind Cloudflare",
    headers: { server: "cloudflare", "cf-ray": "8a1b2c3d4e5f-ZRH", "cf-cache-status": "DYNAMIC" },
    html: page(
      `<meta name="generator" content="Ghost 5.75">
       <script defer src="https://cdn.jsdelivr.net/ghost/portal@~2.37/umd/portal.min.js" data-ghost="/"></script>`,
    ),
    expected: ["Ghost 5.75", "Node.js", "Cloudflare", "jsDelivr"],
  },
  {
    name: "Wix",
    headers: { "x-wix-request-id": "1700000000.123", server: "Pepyaka" },
    html: page(
      '<meta name="generator" content="Wix.com Website Builder">',
      '<script src="https://static.parastorage.com/services/wix-thunderbolt/dist/main.js"></script>',
    ),
    expected: ["Wix", "React"],
  },
  {
    name: "Squarespace",
    headers: { server: "Squarespace" },
    html: page(
      "<!-- This is Squarespace. --><script src='//assets.squarespace.com/universal/scripts-compressed/common.js'></script>",
    ),
    expected: ["Squarespace"],
  },
  {
    name: "Webflow",
    html: '<!doctype html><html data-wf-page="65" data-wf-site="64"><head><meta content="Webflow" name="generator"></head><body></body></html>',
    expected: ["Webflow"],
  },
  {
    name: "Shopify",
    headers: { "x-shopid": "12345", "powered-by": "Shopify", "set-cookie": ["_shopify_y=1; Path=/"] },
    html: page(
      `<link rel="preconnect" href="https://cdn.shopify.com" crossorigin>
       <script>var Shopify = Shopify || {}; Shopify.shop = "made.myshopify.com";
       Shopify.theme = {"name":"My Dawn","id":1,"schema_name":"Dawn","schema_version":"15.0.0"};</script>
       <link href="//made.test/cdn/shop/t/1/assets/base.css" rel="stylesheet">`,
    ),
    expected: ["Shopify"],
  },
  {
    name: "Magento",
    headers: { "set-cookie": ["mage-messages=; Path=/", "PHPSESSID=x; Path=/"] },
    html: page(
      '<script src="https://made.test/static/version1700000000/frontend/Magento/luma/en_US/requirejs/require.min.js"></script>',
      '<script type="text/x-magento-init">{}</script>',
    ),
    expected: ["Magento 2", "PHP", "RequireJS"],
  },
  {
    name: "Next.js with Contentful on Vercel",
    headers: { server: "Vercel", "x-vercel-id": "fra1::iad1::x", "x-powered-by": "Next.js" },
    html: page(
      '<script src="/_next/static/chunks/main-3f2a.js" defer></script>',
      `<div id="__next"><img src="https://images.ctfassets.net/space/asset/x/a.jpg"></div>
       <script id="__NEXT_DATA__" type="application/json">{"buildId":"x"}</script>`,
    ),
    expected: ["Next.js", "React", "Vercel", "Contentful", "Node.js"],
  },
  {
    name: "Nuxt",
    html: page(
      "",
      '<div id="__nuxt"><div></div></div><script>window.__NUXT__={}</script><script src="/_nuxt/entry.4d2.js" type="module"></script>',
    ),
    expected: ["Nuxt.js", "Vue.js"],
  },
  {
    name: "Angular",
    html: page("", '<app-root ng-version="17.0.8"></app-root>'),
    expected: ["Angular 17.0.8"],
  },
  {
    name: "libraries from CDNs",
    html: page(
      `<link href="https://cdn.jsdelivr.net/npm/bootstrap@5.3.2/dist/css/bootstrap.min.css" rel="stylesheet">
       <link href="https://cdnjs.cloudflare.com/ajax/libs/font-awesome/6.5.1/css/all.min.css" rel="stylesheet">
       <link href="https://fonts.googleapis.com/css2?family=Inter" rel="stylesheet">
       <script src="https://code.jquery.com/jquery-3.6.0.min.js"></script>
       <script src="https://cdn.jsdelivr.net/npm/vue@3.3.11/dist/vue.global.prod.js"></script>
       <script src="https://unpkg.com/htmx.org@1.9.9"></script>
       <script src="https://cdn.jsdelivr.net/npm/alpinejs@3.13.3/dist/cdn.min.js" defer></script>`,
      '<button hx-get="/x">x</button>',
    ),
    expected: [
      "Bootstrap 5.3.2",
      "Font Awesome 6.5.1",
      "Google Font API",
      "jQuery 3.6.0",
      "jQuery CDN",
      "Vue.js 3.3.11",
      "htmx 1.9.9",
      "Alpine.js 3.13.3",
      "jsDelivr",
      "cdnjs",
      "UNPKG",
    ],
  },
  {
    name: "analytics, tags, consent and chat",
    html: page(
      `<script async src="https://www.googletagmanager.com/gtag/js?id=G-ABCDEF1234"></script>
       <script>(function(w,d){d.x='https://www.googletagmanager.com/gtm.js?id='})(window,document)</script>
       <script>var _paq = window._paq = []; _paq.push(['trackPageView']);</script>
       <script defer data-domain="made.test" src="https://plausible.io/js/script.js"></script>
       <script src="https://static.hotjar.com/c/hotjar-1.js?sv=6"></script>
       <script id="Cookiebot" src="https://consent.cookiebot.com/uc.js"></script>
       <script src="https://js.stripe.com/v3/"></script>
       <script src="https://www.google.com/recaptcha/api.js"></script>`,
      '<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-1"></iframe></noscript>',
    ),
    expected: [
      "Google Analytics GA4",
      "Google Tag Manager",
      "Matomo",
      "Plausible",
      "Hotjar",
      "Cookiebot",
      "Stripe 3",
      "reCAPTCHA",
    ],
  },
  {
    name: "ASP.NET on IIS",
    headers: {
      server: "Microsoft-IIS/10.0",
      "x-aspnet-version": "4.0.30319",
      "x-powered-by": "ASP.NET",
      "set-cookie": ["ASP.NET_SessionId=x; Path=/; HttpOnly"],
    },
    html: page("", '<input type="hidden" name="__VIEWSTATE" value="x">'),
    expected: ["Microsoft IIS 10.0", "Microsoft ASP.NET 4.0.30319", "Windows Server"],
  },
  {
    name: "Apache with modules behind Varnish",
    headers: {
      server: "Apache/2.4.57 (Debian) OpenSSL/3.0.11 PHP/8.1.2",
      via: "1.1 varnish (Varnish/7.1)",
      "x-varnish": "1 2",
    },
    html: page(""),
    expected: ["Apache HTTP Server 2.4.57", "OpenSSL 3.0.11", "PHP 8.1.2", "Debian", "Varnish 7.1"],
  },
  {
    name: "Django, Rails and Laravel by their tokens",
    headers: { "set-cookie": ["laravel_session=x; Path=/"] },
    html: page(
      '<meta name="csrf-param" content="authenticity_token">',
      '<input type="hidden" name="csrfmiddlewaretoken" value="x">',
    ),
    expected: ["Laravel", "PHP", "Ruby on Rails", "Ruby", "Django", "Python"],
  },
  {
    name: "MediaWiki",
    html: `<!doctype html><html><head><meta name="generator" content="MediaWiki 1.39.3-wmf.1"><script src="/w/load.php?lang=en&modules=startup"></script></head><body class="mediawiki ltr"></body></html>`,
    expected: ["MediaWiki 1.39.3", "PHP"],
  },
  {
    name: "Hugo on GitHub Pages behind Fastly",
    headers: { server: "GitHub.com", "x-github-request-id": "AB:CD", "x-served-by": "cache-fra-eddf8230020-FRA" },
    html: page('<meta name="generator" content="Hugo 0.121.1">'),
    expected: ["Hugo 0.121.1", "GitHub Pages", "Fastly"],
  },
  { name: "a plain page", html: page("", "<h1>WordPress, Drupal, Shopify and jQuery compared</h1>"), expected: [] },
];
