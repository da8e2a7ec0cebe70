import { isAbsolute, type PageReferences } from "#probe-agent/analysis/page/seo/references.ts";
import { withoutFragment } from "#probe-agent/analysis/http/url/web-url.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** Which address of a page search engines are told to show. */
export interface Canonical {
  /** The one address named; null where there is none, or several that differ. */
  readonly url: string | null;
  readonly source: "html" | "http_header" | null;
  /** All of them as written, at most 20. */
  readonly named: string[];
  /** It is the page's own; null without one. */
  readonly self: boolean | null;
  /** What is wrong, one sentence each; empty also where there is none. */
  readonly issues: string[];
}

/** A verdict with what is wrong by Lighthouse's audit: naming another host, or readers without scripts, are not part of it. */
export interface JudgedCanonical {
  readonly canonical: Canonical;
  readonly faults: readonly string[];
}

const MAX_NAMED = 20;
const MAX_IGNORED = 5;

/** Judges rel=canonical as Lighthouse does: one absolute address, not of another language, nor of the home page. */
export function judgeCanonical({ head, ignored }: PageReferences, pageUrl: string): JudgedCanonical {
  const all = head.filter(({ rel }) => rel.includes("canonical"));
  const distinct = new Set(all.map(({ url, written }) => url?.href ?? written));
  const [only] = all;
  const one = only?.url !== null && distinct.size === 1 ? only : undefined;
  const page = new URL(pageUrl);
  const alternates = head.filter(({ rel, hreflang }) => rel.includes("alternate") && hreflang !== null);
  const isOther = one !== undefined && one.url !== null && withoutFragment(one.url) !== withoutFragment(page);
  const isTranslation = isOther && alternates.some(({ url }) => url?.href === one.url?.href);
  const listsSelf = alternates.some(({ url }) => url !== null && withoutFragment(url) === withoutFragment(page));
  const reasons = new Set(ignored.filter(({ rel }) => rel.includes("canonical")).map(({ why }) => why));
  const unscripted = new Set(all.flatMap(({ ignoredWithoutScripts: why }) => why ?? []));
  const faults = [
    ...(distinct.size > 1 ? ["There are several that differ, so none of them counts."] : []),
    ...(all.some(({ url }) => url === null) ? ["It is no URL."] : []),
    ...(all.some(({ url, written }) => url !== null && !isAbsolute(written)) ? ["It is relative."] : []),
    ...(isOther && isRoot(one.url) && !isRoot(page) ? ["It names the home page instead of this one."] : []),
    ...(isTranslation && listsSelf ? ["It names a page of another language that hreflang lists beside this one."] : []),
    ...[...reasons].slice(0, MAX_IGNORED).map((why) => `One ${why}, so search engines ignore it.`),
  ];
  const canonical = {
    url: one?.url === undefined || one.url === null ? null : storable(one.url.href, 2048),
    source: one?.source ?? null,
    named: all.slice(0, MAX_NAMED).map(({ written }) => storable(written, 500)),
    self: one === undefined ? null : !isOther,
    issues: [
      ...(one !== undefined && isOther && one.url?.hostname !== page.hostname
        ? [`It names another host: ${one.url?.hostname}.`]
        : []),
      ...faults,
      ...[...unscripted].map((why) => `One ${why} for crawlers that run no scripts: they ignore it.`),
    ],
  };
  return { canonical, faults };
}

function isRoot(url: URL | null): boolean {
  return url !== null && url.pathname === "/" && url.search === "";
}
