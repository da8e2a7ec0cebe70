import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** Categories whose technologies run a whole site, the ones that name it best first. */
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

/** Systems that only deliver content: another program makes the pages. Their images on a page prove less than others. */
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
/** Programs that make pages from somebody else's content. */
const FRONT_ENDS = new Set(["next-js", "nuxt-js", "gatsby", "astro", "sveltekit", "remix", "react-router", "eleventy"]);

/** What a page's technologies say about the system behind it. */
interface SystemsSeen {
  /** The likeliest first. */
  readonly systems: readonly Technology[];
  readonly pageBuilders: readonly string[];
  readonly ecommerce: string | null;
  readonly hosting: readonly string[];
  /** A program that makes pages from another system's content shows. */
  readonly frontEnd: boolean;
}

/** Sorts technologies by what they are to the site. */
export function chooseSystems(technologies: readonly Technology[]): SystemsSeen {
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

/** Whether a system never makes pages itself. */
export function isHeadless(slug: string): boolean {
  return HEADLESS.has(slug);
}

function rankOf({ slug, categories }: Technology): number {
  const best = Math.min(...categories.map(({ id }) => SYSTEMS.get(id) ?? Infinity));
  return isHeadless(slug) ? best + 0.5 : best;
}
