/** Builds the shop's start page. `plain` is its http origin, from which it still loads one picture. */
export function shopPage(origin: string, plain: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Oak &amp; Lumen: hand-made lamps of oak and glass</title>
<meta name="description" content="Lamps made by hand in a small workshop: oak from the region, mouth-blown glass, and light that does not tire. Sent within three days.">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="WordPress 6.7.1">
<meta name="robots" content="index, follow, max-image-preview:large">
<link rel="canonical" href="${origin}/">
<link rel="alternate" hreflang="en" href="${origin}/">
<link rel="alternate" hreflang="de" href="${origin}/de/">
<link rel="alternate" type="application/rss+xml" title="News" href="/feed.xml">
<link rel="icon" href="/favicon.ico">
<link rel="preload" href="/assets/lato.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/wp-content/themes/storefront/style.css?ver=4.6.0">
<meta property="og:title" content="Oak &amp; Lumen">
<meta property="og:type" content="website">
<meta property="og:url" content="${origin}/">
<meta property="og:image" content="${origin}/assets/card.png">
<meta property="og:image:alt" content="A lamp of oak on a table">
<meta property="og:description" content="Hand-made lamps of oak and glass">
<meta property="og:site_name" content="Oak &amp; Lumen">
<meta name="twitter:card" content="summary_large_image">
<script type="application/ld+json">
${JSON.stringify(structuredData(origin), null, 1)}
</script>
<script nonce="Zm9ydHktdHdvLW9jdGV0cw" src="/wp-includes/js/jquery/jquery.min.js?ver=3.7.1" defer></script>
<script nonce="Zm9ydHktdHdvLW9jdGV0cw" src="/wp-content/plugins/woocommerce/assets/js/frontend/add-to-cart.min.js?ver=9.4.2" defer></script>
<script async src="https://www.googletagmanager.com/gtag/js?id=G-0000000000"></script>
</head>
<body class="home page woocommerce">
<header><nav aria-label="Main"><a href="/">Home</a> <a href="/lamps/">Lamps</a> <a href="/about/">About the workshop</a>
<a href="/cart/" rel="nofollow">Cart</a></nav></header>
<main>
<h1>Lamps of oak and glass</h1>
<p>Every lamp leaves our workshop with the name of the person who made it. The oak comes from forests less than an hour
away, is dried for two years and oiled three times. The glass is blown by mouth, which is why no two lamps are alike.</p>
<img src="/assets/hero.webp" width="1200" height="600" alt="A workbench with four unfinished lamps" fetchpriority="high">
<h2>This month</h2>
<article>
<h3><a href="/lamps/lantern/">Lantern No. 4</a></h3>
<img src="/assets/lantern.jpg" width="400" height="400" loading="lazy" alt="Lantern No. 4, lit">
<p>A lantern for the table, 31 cm high, with a dimmer of brass. <strong>€ 189.00</strong></p>
</article>
<article>
<h3><a href="/lamps/reading/">Reading lamp</a></h3>
<img src="${plain}/assets/reading.jpg" width="400" height="400" loading="lazy" alt="A reading lamp beside a chair">
<p>Turns without a sound and stays where you put it. <strong>€ 149.00</strong></p>
</article>
<h2>Why we write this down</h2>
<p>We answer every letter. Ask about wood, about light, about repairs: a lamp that we made is repaired for as long as
there is somebody in the workshop who knows how, and we teach two apprentices at any time so that there will be.</p>
<form action="/search/" method="get" role="search"><label for="s">Search</label> <input id="s" name="s"> <button>Go</button></form>
</main>
<footer><p>Oak &amp; Lumen, Workshop Lane 4, Exampleville</p> <a href="https://partner.test/glass" rel="noopener">Our glass-maker</a></footer>
</body>
</html>
`;
}

function structuredData(origin: string): object {
  return {
    "@context": "https://schema.org",
    "@graph": [
      {
        "@type": "Organization",
        "@id": `${origin}/#shop`,
        name: "Oak & Lumen",
        url: `${origin}/`,
        logo: `${origin}/logo.svg`,
      },
      {
        "@type": "Product",
        name: "Lantern No. 4",
        image: `${origin}/assets/lantern.jpg`,
        description: "A lantern of oak and glass, 31 cm high",
        sku: "LANTERN-4",
        brand: { "@type": "Brand", name: "Oak & Lumen" },
        offers: {
          "@type": "Offer",
          price: "189.00",
          priceCurrency: "EUR",
          availability: "https://schema.org/InStock",
          url: `${origin}/lamps/lantern/`,
        },
        aggregateRating: { "@type": "AggregateRating", ratingValue: "4.8", reviewCount: "57" },
      },
      {
        "@type": "BreadcrumbList",
        itemListElement: [
          { "@type": "ListItem", position: 1, name: "Home", item: `${origin}/` },
          { "@type": "ListItem", position: 2, name: "Lamps", item: `${origin}/lamps/` },
        ],
      },
    ],
  };
}
