import { documentBase } from "#probe-agent/analysis/http/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, metaPragmas } from "#probe-agent/analysis/html/page.ts";
import { definePageAnalysis, type Page, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import type { FoundRefresh } from "#probe-agent/analysis/web/redirect-chain.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { readCanonical, type Canonical } from "#probe-agent/analysis/html/canonical.ts";
import { webUrl, withoutFragment } from "#probe-agent/analysis/http/web-url.ts";

/** A refresh with its target as plain text. */
export interface LandingRefresh extends Omit<FoundRefresh, "target"> {
  readonly target: string | null;
  /** Whether the refresh has no URL. */
  readonly bare: boolean;
}

/** Properties of the page at the end of a chain of redirects. */
export interface Landing {
  readonly title: string | null;
  readonly canonical: Canonical;
  readonly refresh: LandingRefresh | null;
}

/** Maximum number of elements within noscript that are examined. */
const MAX_NOSCRIPT = 50;

/** Reads the page at the end of a chain of redirects. */
function readLanding({ page, url, headers }: ReadPage): Landing {
  return {
    title: page?.facts.title ?? null,
    canonical: readCanonical(headers, page, url),
    refresh: findRefresh({ page, url, headers }),
  };
}

/** The page at the end of a chain of redirects. */
export const landingAnalysis = definePageAnalysis("landing", readLanding);

/** Finds the refresh that applies: the header, else the first meta element (WHATWG HTML), else one in noscript. */
function findRefresh({ page, url: pageUrl, headers }: Pick<ReadPage, "page" | "url" | "headers">) {
  const base = documentBase(page?.facts.baseHref ?? null, pageUrl);
  const found = (kind: FoundRefresh["kind"], values: readonly string[], from: string): LandingRefresh | null => {
    const refresh = values.map(parseRefresh).find((one): one is Refresh => one !== null);
    if (refresh === undefined) return null;
    const target = webUrl(refresh.url ?? pageUrl, from);
    const reloads = target !== null && withoutFragment(target) === withoutFragment(new URL(pageUrl));
    const { delaySeconds, url } = refresh;
    return { kind, delaySeconds, target: target?.href ?? null, reloads, bare: url === null };
  };
  return (
    found("refresh_header", headerValues(headers, "refresh"), pageUrl) ??
    (page === null ? null : found("meta", metaPragmas(page.facts, "refresh"), base)) ??
    (page === null ? null : found("noscript", noscriptRefreshes(page), base))
  );
}

function noscriptRefreshes({ document }: Page): string[] {
  const contents: string[] = [];
  let examined = 0;
  for (const noscript of walkElements(document.root)) {
    if (noscript.name !== "noscript") continue;
    for (const element of walkElements(noscript)) {
      examined += 1;
      if (examined > MAX_NOSCRIPT) return contents;
      const isRefresh = element.name === "meta" && attribute(element, "http-equiv")?.toLowerCase() === "refresh";
      if (isRefresh) contents.push(attribute(element, "content") ?? "");
    }
  }
  return contents;
}

/** A declarative refresh, from a Refresh header or a meta element. */
interface Refresh {
  /** Whole seconds; the standard ignores fractions. */
  readonly delaySeconds: number;
  /** The target as sent, without its quotes; null if the page reloads itself. */
  readonly url: string | null;
}

/** Maximum number of characters that are read of a value. */
const MAX_CHARACTERS = 16_384;
const MAX_SECONDS = 2_147_483_647;
const SPACE = "[\\t\\n\\f\\r ]";
const TIME = new RegExp(`^${SPACE}*(\\d*)([\\d.]*)`);
const SEPARATOR = new RegExp(`^(?:${SPACE}+[;,]?|[;,])${SPACE}*`);
const URL_WORD = new RegExp(`^[Uu][Rr][Ll]${SPACE}*=${SPACE}*`);

/** Parses a value as browsers do (WHATWG HTML, shared declarative refresh steps). Null if browsers ignore it. */
export function parseRefresh(value: string): Refresh | null {
  const input = value.slice(0, MAX_CHARACTERS);
  const [read, digits = "", fraction = ""] = TIME.exec(input) ?? [""];
  if (digits === "" && !fraction.startsWith(".")) return null;
  const delaySeconds = Math.min(Number(digits), MAX_SECONDS);
  const rest = input.slice(read.length);
  if (rest === "") return { delaySeconds, url: null };
  const separator = SEPARATOR.exec(rest);
  if (separator === null) return null;
  const target = rest.slice(separator[0].length);
  return { delaySeconds, url: target === "" ? null : targetOf(target) };
}

/** Removes `url=` and a pair of quotes. A text that starts with "u" but not with `url=` is a relative address. */
function targetOf(text: string): string {
  const word = URL_WORD.exec(text);
  if (word === null && /^[Uu]/.test(text)) return text;
  const unnamed = text.slice(word?.[0].length ?? 0);
  const [quote = ""] = unnamed;
  if (quote !== '"' && quote !== "'") return unnamed;
  const end = unnamed.indexOf(quote, 1);
  return unnamed.slice(1, end === -1 ? undefined : end);
}
