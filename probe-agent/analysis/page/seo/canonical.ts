import { isAbsolute, type PageReferences } from "#probe-agent/analysis/page/seo/references.ts";
import { withoutFragment } from "#probe-agent/analysis/http/url/web-url.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** Which address of a page search engines are told to show. */
interface Canonical {
  /** The one address named; null where there is none, or several that differ. */
  readonly url: string | null;
  readonly source: "html" | "http_header" | null;
  /** All of them as written, at most 20. */
  readonly named: string[];
  /** It is the page's own; null without one. */
  readonly self: boolean | null;
}

/** Something wrong with rel=canonical, and what to change. */
interface CanonicalFault {
  /** One sentence. */
  readonly message: string;
  readonly how: string;
}

/** The address with its faults. */
interface JudgedCanonical {
  readonly canonical: Canonical;
  /** Faults by Lighthouse's audit. */
  readonly faults: readonly CanonicalFault[];
  /** The host that is named where it is not the page's own; no fault by Lighthouse. */
  readonly otherHost: string | null;
  /** Why crawlers that run no scripts ignore a link that others read, one sentence each. */
  readonly unscripted: readonly string[];
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
  const invalid = all.find(({ url }) => url === null);
  const relative = all.find(({ url, written }) => url !== null && !isAbsolute(written));
  const link = `<link rel="canonical" href="${shown(withoutFragment(page))}">`;
  const name = `Name the full address of this page: ${link}.`;
  const faults: CanonicalFault[] = [
    ...(distinct.size > 1
      ? [
          fault(
            `The page names ${distinct.size} different canonical addresses, so search engines use none of them: ${[...distinct].slice(0, 3).map(shown).join(", ")}.`,
            `Keep one: ${link}.`,
          ),
        ]
      : []),
    ...(invalid === undefined ? [] : [fault(`The canonical address "${shown(invalid.written)}" is not a URL.`, name)]),
    ...(relative === undefined ? [] : [fault(`The canonical address ${shown(relative.written)} is relative.`, name)]),
    ...(isOther && isRoot(one.url) && !isRoot(page)
      ? [fault("The canonical address is the home page, not this page.", name)]
      : []),
    ...(isTranslation && listsSelf
      ? [fault("The canonical address is a page in another language that hreflang lists beside this one.", name)]
      : []),
    ...[...reasons]
      .slice(0, MAX_IGNORED)
      .map((why) =>
        fault(
          `A canonical link ${why}, so search engines ignore it.`,
          `Put it into the head, before any element that ends the head, without media, type or hreflang: ${link}.`,
        ),
      ),
  ];
  const canonical = {
    url: one?.url === undefined || one.url === null ? null : storable(one.url.href, 2048),
    source: one?.source ?? null,
    named: all.slice(0, MAX_NAMED).map(({ written }) => storable(written, 500)),
    self: one === undefined ? null : !isOther,
  };
  const host = isOther ? (one.url?.hostname ?? null) : null;
  return {
    canonical,
    faults,
    otherHost: host === page.hostname ? null : host,
    unscripted: [...unscripted]
      .slice(0, MAX_IGNORED)
      .map((why) => `A canonical link ${why}: crawlers that run no scripts ignore it.`),
  };
}

function fault(message: string, how: string): CanonicalFault {
  return { message, how };
}

function shown(address: string): string {
  return storable(address, 200);
}

function isRoot(url: URL | null): boolean {
  return url !== null && url.pathname === "/" && url.search === "";
}
