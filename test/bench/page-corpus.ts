import { below, createDice, type Dice } from "#test/fleet/random.ts";

const SEED = 20_261_122;
const KILOBYTE = 1024;
/**
 * Sizes of HTML documents have a log-normal distribution: median 70 KB, one in ten above 300 KB, cut at 3 MB (after the
 * HTTP Archive's Web Almanac, chapter Page Weight).
 */
const MEDIAN_BYTES = 70 * KILOBYTE;
const SPREAD = 1.15;
const MAX_BYTES = 3 * KILOBYTE * KILOBYTE;
const WORDS = "market river report garden council signal winter bridge letter harbour engine school museum price".split(
  " ",
);

/**
 * Returns `count` pages of a news site, the same in every run: head, navigation, articles, teasers, scripts, structured
 * data.
 */
export function writePages(count: number): string[] {
  const dice = createDice(SEED);
  return Array.from({ length: count }, (_, number) => writePage(dice, number, drawSize(dice)));
}

function drawSize(dice: Dice): number {
  const normal = Math.sqrt(-2 * Math.log(1 - dice())) * Math.cos(2 * Math.PI * dice());
  return Math.min(MAX_BYTES, MEDIAN_BYTES * Math.exp(SPREAD * normal));
}

function writePage(dice: Dice, number: number, bytes: number): string {
  const title = sentence(dice, 6);
  const parts = [
    `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>`,
    `<meta name="description" content="${sentence(dice, 20)}"><meta name="viewport" content="width=device-width">`,
    `<link rel="canonical" href="/page/${number}"><meta property="og:title" content="${title}">`,
    `<meta property="og:image" content="/images/${number}.jpg"><link rel="stylesheet" href="/assets/site.css?v=3">`,
    `<script src="/assets/jquery-3.7.1.min.js"></script><script async src="https://cdn.example/tag/js/gpt.js"></script>`,
    `<script type="application/ld+json">${structuredData(dice, number, title)}</script></head><body>`,
    `<header><nav><ul>${many(dice, 40, () => `<li><a href="/${word(dice)}">${word(dice)}</a></li>`)}</ul></nav></header>`,
    `<main><h1>${title}</h1>`,
  ];
  let written = parts.reduce((sum, part) => sum + part.length, 0);
  while (written < bytes) {
    const block = writeBlock(dice);
    parts.push(block);
    written += block.length;
  }
  parts.push("</main><footer><p>Contact</p></footer></body></html>");
  return parts.join("\n");
}

/** Returns a part of a body: text, teasers, or an inline script with the state of a front end. */
function writeBlock(dice: Dice): string {
  const kind = dice();
  if (kind < 0.35) return `<h2>${sentence(dice, 4)}</h2>${many(dice, 4, () => `<p>${sentence(dice, 60)}</p>`)}`;
  if (kind < 0.85) return many(dice, 6, () => teaser(dice));
  return `<script>window.__state__=${JSON.stringify({ items: Array.from({ length: 20 }, () => sentence(dice, 12)) })}</script>`;
}

function teaser(dice: Dice): string {
  const path = `/${word(dice)}/${below(dice, 100_000)}`;
  return (
    `<div class="card card--${word(dice)}"><a href="${path}"><img src="/images${path}.jpg" alt="${word(dice)}" width="320" ` +
    `height="180" loading="lazy"></a><div class="card__body"><span class="tag">${word(dice)}</span><h3><a href="${path}">` +
    `${sentence(dice, 5)}</a></h3><p>${sentence(dice, 14)}</p><ul><li>${word(dice)}</li><li>${word(dice)}</li></ul></div></div>`
  );
}

function structuredData(dice: Dice, number: number, headline: string): string {
  return JSON.stringify({
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    headline,
    image: [`/images/${number}.jpg`],
    datePublished: "2026-11-01T08:00:00+00:00",
    author: [{ "@type": "Person", name: `${word(dice)} ${word(dice)}` }],
  });
}

function many(dice: Dice, most: number, write: () => string): string {
  return Array.from({ length: 1 + below(dice, most) }, write).join("\n");
}

function sentence(dice: Dice, words: number): string {
  return Array.from({ length: words }, () => word(dice)).join(" ");
}

function word(dice: Dice): string {
  return WORDS[below(dice, WORDS.length)] ?? "";
}
