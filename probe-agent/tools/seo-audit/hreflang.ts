import { isLanguageTag } from "#probe-agent/analysis/http/language-tag.ts";
import { isAbsolute, type PageReference, type PageReferences } from "#probe-agent/tools/seo-audit/references.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import { withoutFragment } from "#probe-agent/analysis/http/web-url.ts";

/** A version of the page in one language. */
interface LanguageVersion {
  readonly lang: string;
  /** Resolved address; null if it is not a URL. */
  readonly url: string | null;
  readonly source: "html" | "http_header";
  /** Whether the address is that of the page itself. */
  readonly self: boolean;
  /** Why search engines cannot use the version, as a clause; null if they can. */
  readonly fault: string | null;
}

/** The versions of a page, and faults of the group. */
interface LanguageVersions {
  /** The first 100 versions. */
  readonly versions: LanguageVersion[];
  /** Number of all versions. */
  readonly total: number;
  /** Number of links with hreflang that search engines ignore because of their place or attributes. */
  readonly ignored: number;
  /** Why the first of them is ignored, as a clause after "it"; null if there is none. */
  readonly ignoredWhy: string | null;
  readonly valid: boolean;
  readonly x_default: boolean;
  /** Whether the page lists itself, as each page of a group must; null without versions. */
  readonly self_reference: boolean | null;
  /** The first 10 languages that have several addresses. */
  readonly ambiguous: readonly string[];
}

const MAX_LISTED = 100;
const LANGUAGES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
const REGIONS = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
/** Codes that are in use but that ISO 3166-1 does not assign to a country. Some of them are reserved. */
const NO_COUNTRIES = new Set(["UK", "EU", "EZ", "UN", "QO", "XA", "XB", "ZZ"]);

/**
 * Checks the links with rel=alternate and hreflang against Google's rules: an ISO 639-1 language, then an optional
 * script or country, and an absolute address.
 */
export function checkHreflang({ head, ignored }: PageReferences, pageUrl: string): LanguageVersions {
  const unread = ignored.filter(({ rel, hreflang }) => rel.includes("alternate") && (hreflang ?? "") !== "");
  const all = head.filter(({ rel, hreflang }) => rel.includes("alternate") && hreflang !== null && hreflang !== "");
  const ownUrl = withoutFragment(new URL(pageUrl));
  const versions = all.map((one) => {
    const lang = one.hreflang ?? "";
    return {
      lang: storable(lang, 100),
      url: one.url === null ? null : storable(one.url.href, 500),
      source: one.source,
      self: one.url !== null && withoutFragment(one.url) === ownUrl,
      fault: languageFault(lang) ?? addressFault(one),
    };
  });
  const targets = new Map<string, Set<string | null>>();
  for (const { lang, url } of versions) {
    const key = lang.toLowerCase();
    targets.set(key, (targets.get(key) ?? new Set()).add(url));
  }
  const ambiguous = [...targets].filter(([, urls]) => urls.size > 1).map(([lang]) => lang);
  const selfReference = versions.length === 0 ? null : versions.some(({ self }) => self);
  return {
    versions: versions.slice(0, MAX_LISTED),
    total: versions.length,
    ignored: unread.length,
    ignoredWhy: unread[0]?.why ?? null,
    valid: unread.length === 0 && versions.every(({ fault }) => fault === null),
    x_default: targets.has("x-default"),
    self_reference: selfReference,
    ambiguous: ambiguous.slice(0, 10),
  };
}

/** Returns why a value of hreflang is not a valid language, as a clause, or null if it is valid. */
export function languageFault(value: string): string | null {
  if (value.toLowerCase() === "x-default") return null;
  if (value.includes("_")) return "parts are joined by an underscore instead of a hyphen";
  if (!isLanguageTag(value)) return "not a language tag (BCP 47)";
  const [language = "", ...subtags] = value.split("-");
  if (language.length > 3 || LANGUAGES.of(language.toLowerCase()) === undefined) return `no such language: ${language}`;
  for (const subtag of subtags) {
    if (/^[a-z]{2}$/i.test(subtag) && !isCountry(subtag.toUpperCase())) return `no such country: ${subtag}`;
  }
  return null;
}

function isCountry(code: string): boolean {
  return !NO_COUNTRIES.has(code) && REGIONS.of(code) !== undefined;
}

function addressFault({ url, written }: PageReference): string | null {
  if (url === null) return "its address is not a URL";
  return isAbsolute(written) ? null : "its address is relative";
}
