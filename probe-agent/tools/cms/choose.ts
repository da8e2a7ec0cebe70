import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import type { Asset } from "#probe-agent/analysis/page/cms-assets.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";

/** Categories whose technologies run a whole site, with their rank. A lower rank describes a site better. */
const SYSTEMS = new Map([
  [1, 0], // CMS
  [11, 1], // blogs
  [6, 2], // ecommerce
  [8, 3], // wikis
  [2, 3], // message boards
  [21, 3], // learning management
  [57, 4], // static site generators
  [4, 4], // documentation
  [50, 4], // document management
]);
const ECOMMERCE = 6;
const PAGE_BUILDERS = 51;
const WORDPRESS_PLUGINS = 87;
const HOSTING = new Set([31, 62, 63, 88]);

/**
 * Systems that only deliver content, while another program renders the pages. Their images on a page prove less than
 * those of other systems.
 */
const HEADLESS: ReadonlySet<string> = new Set([
  "builder-io",
  "buttercms",
  "contentful",
  "contentstack",
  "cosmic",
  "datocms",
  "directus",
  "hygraph",
  "kontent-ai",
  "payload-cms",
  "prismic",
  "sanity",
  "storyblok",
  "strapi",
]);
/** Programs that render pages from another system's content. */
const FRONT_ENDS = new Set(["next-js", "nuxt-js", "gatsby", "astro", "sveltekit", "remix", "react-router", "eleventy"]);

/** Systems, builders, shop software and hosting found among a page's technologies. */
interface DetectedSystems {
  /** Sorted by confidence, then by the rank of their category. */
  readonly systems: readonly Technology[];
  readonly pageBuilders: readonly string[];
  readonly ecommerce: string | null;
  readonly hosting: readonly string[];
  /** Whether a program that renders pages from another system's content was detected. */
  readonly frontEnd: boolean;
}

/** Groups technologies by their role in the site. */
export function chooseSystems(technologies: readonly Technology[]): DetectedSystems {
  const names = (wanted: (category: number) => boolean): string[] =>
    technologies.filter(({ categories }) => categories.some(({ id }) => wanted(id))).map(({ name }) => name);
  const systems = technologies
    .filter(({ categories }) => categories.some(({ id }) => SYSTEMS.has(id)))
    .filter(({ categories }) => !categories.some(({ id }) => id === WORDPRESS_PLUGINS))
    .toSorted((one, other) => other.confidence - one.confidence || rankOf(one) - rankOf(other));
  return {
    systems,
    pageBuilders: names((id) => id === PAGE_BUILDERS),
    ecommerce: names((id) => id === ECOMMERCE)[0] ?? null,
    hosting: names((id) => HOSTING.has(id)),
    frontEnd: technologies.some(({ slug }) => FRONT_ENDS.has(slug)),
  };
}

/** Reports whether a system never renders pages itself. */
export function isHeadless(slug: string): boolean {
  return HEADLESS.has(slug);
}

function rankOf({ slug, categories }: Technology): number {
  const best = Math.min(...categories.map(({ id }) => SYSTEMS.get(id) ?? Infinity));
  return isHeadless(slug) ? best + 0.5 : best;
}

/** Maximum confidence of a system whose only evidence is images of other sites, in percent. */
const FOREIGN = 30;
/** Paths at which systems store uploaded images, which other sites can embed. */
const UPLOADS = new Map([
  ["adobe-experience-manager", /\/content\/dam\//],
  ["drupal", /\/sites\/default\/files\//],
  ["sitecore", /\/[-~]\/media\//],
  ["typo3", /\/fileadmin\/_processed_\//],
  ["wordpress", /\/wp-content\//],
]);
/** Scripts and style sheets. They belong to the page's own system, on whichever host they are. */
const PROGRAM = /\.(?:css|js|mjs)$/i;

/**
 * Lowers a system's confidence if its only evidence is images of other sites. A page that embeds an image from another
 * site's WordPress does not itself run WordPress.
 */
export function lowerForeignConfidence(system: Technology, assets: readonly Asset[], pageUrl: string): Technology {
  const uploads = UPLOADS.get(system.slug);
  const byPictures = system.evidence.every(({ type, match }) => type === "dom" && match.includes("img[src"));
  if (uploads === undefined || !byPictures) return system;
  const { hostname } = new URL(pageUrl);
  const shown = assets.filter(({ path }) => uploads.test(path));
  const foreign = shown.every(({ host, path }) => !PROGRAM.test(path) && !isSameSite(hostOf(host), hostname));
  return foreign && shown.length > 0 ? { ...system, confidence: Math.min(FOREIGN, system.confidence) } : system;
}

function hostOf(host: string): string {
  return host.replace(/:\d+$/, "");
}
