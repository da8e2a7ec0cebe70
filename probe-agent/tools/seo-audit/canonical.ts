import { isAbsolute, type PageReferences } from "#probe-agent/tools/seo-audit/references.ts";
import { withoutFragment } from "#probe-agent/analysis/http/web-url.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** The canonical address of a page: the one that search engines are asked to show. */
interface Canonical {
  /** The canonical address; null if there is none, or if there are several different ones. */
  readonly url: string | null;
  readonly source: "html" | "http_header" | null;
  /** The first 20 canonical addresses, unchanged. */
  readonly named: string[];
  /** Whether it is the address of the page itself; null without a canonical address. */
  readonly self: boolean | null;
}

/** A fault of rel=canonical. */
interface CanonicalFault {
  /** The fault, as one sentence. */
  readonly message: string;
  /** What to change. */
  readonly how: string;
}

/** The canonical address and its faults. */
interface CanonicalReport {
  readonly canonical: Canonical;
  /** Faults by the rules of Lighthouse's audit. */
  readonly faults: readonly CanonicalFault[];
  /** Host of the canonical address if it differs from the page's host, otherwise null. Not a fault by Lighthouse. */
  readonly otherHost: string | null;
  /** Links that only crawlers without scripts ignore. One sentence each, with the reason. */
  readonly unscripted: readonly string[];
}

const MAX_NAMED = 20;
const MAX_IGNORED = 5;

/**
 * Checks rel=canonical by Lighthouse's rules: one absolute address, which is neither a version in another language nor
 * the home page.
 */
export function checkCanonical({ head, ignored }: PageReferences, pageUrl: string): CanonicalReport {
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
  const link = `<link rel="canonical" href="${shorten(withoutFragment(page))}">`;
  const useOwn = `Use the full address of this page: ${link}.`;
  const faults: CanonicalFault[] = [
    ...(distinct.size > 1
      ? [
          fault(
            `The page has ${distinct.size} different canonical addresses, so search engines use none of them: ${[...distinct].slice(0, 3).map(shorten).join(", ")}.`,
            `Keep one: ${link}.`,
          ),
        ]
      : []),
    ...(invalid === undefined
      ? []
      : [fault(`The canonical address "${shorten(invalid.written)}" is not a URL.`, useOwn)]),
    ...(relative === undefined
      ? []
      : [fault(`The canonical address ${shorten(relative.written)} is relative.`, useOwn)]),
    ...(isOther && isRoot(one.url) && !isRoot(page)
      ? [fault("The canonical address is the home page, not this page.", useOwn)]
      : []),
    ...(isTranslation && listsSelf
      ? [fault("The canonical address is a version of this page in another language that hreflang lists.", useOwn)]
      : []),
    ...[...reasons]
      .slice(0, MAX_IGNORED)
      .map((why) =>
        fault(
          `A canonical link ${why}, so search engines ignore it.`,
          `Move it into the head, before any element that ends the head, without media, type or hreflang: ${link}.`,
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
      .map((why) => `A canonical link ${why}, so crawlers that run no scripts ignore it.`),
  };
}

function fault(message: string, how: string): CanonicalFault {
  return { message, how };
}

function shorten(address: string): string {
  return storable(address, 200);
}

function isRoot(url: URL | null): boolean {
  return url !== null && url.pathname === "/" && url.search === "";
}
