import { isAbsolute, type PageReference } from "#probe-agent/analysis/seo/references.ts";
import { withoutFragment } from "#probe-agent/analysis/url/web-url.ts";
import { storable } from "#probe-agent/analysis/structured/excerpt.ts";

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

const MAX_NAMED = 20;

/** Judges rel=canonical as Lighthouse does: one absolute address, not of another language, nor of the home page. */
export function judgeCanonical(head: readonly PageReference[], bodyCanonicals: number, pageUrl: string): Canonical {
  const all = head.filter(({ rel }) => rel.includes("canonical"));
  const distinct = new Set(all.map(({ url, written }) => url?.href ?? written));
  const [only] = all;
  const one = only?.url !== null && distinct.size === 1 ? only : undefined;
  const page = new URL(pageUrl);
  const alternates = head.filter(({ rel, hreflang }) => rel.includes("alternate") && hreflang !== null);
  const isOther = one !== undefined && one.url !== null && withoutFragment(one.url) !== withoutFragment(page);
  const isTranslation = isOther && alternates.some(({ url }) => url?.href === one.url?.href);
  const listsSelf = alternates.some(({ url }) => url !== null && withoutFragment(url) === withoutFragment(page));
  return {
    url: one?.url === undefined || one.url === null ? null : storable(one.url.href, 2048),
    source: one?.source ?? null,
    named: all.slice(0, MAX_NAMED).map(({ written }) => storable(written, 500)),
    self: one === undefined ? null : !isOther,
    issues: [
      ...(distinct.size > 1 ? ["There are several that differ, so none of them counts."] : []),
      ...(all.some(({ url }) => url === null) ? ["It is no URL."] : []),
      ...(all.some(({ url, written }) => url !== null && !isAbsolute(written)) ? ["It is relative."] : []),
      ...(one !== undefined && isOther && one.url?.hostname !== page.hostname
        ? [`It names another host: ${one.url?.hostname}.`]
        : []),
      ...(isOther && isRoot(one.url) && !isRoot(page) ? ["It names the home page instead of this one."] : []),
      ...(isTranslation && listsSelf
        ? ["It names a page of another language that hreflang lists beside this one."]
        : []),
      ...(bodyCanonicals > 0 ? ["One stands in the body, where it is ignored."] : []),
    ],
  };
}

function isRoot(url: URL | null): boolean {
  return url !== null && url.pathname === "/" && url.search === "";
}
