import { readInsights, readPageError, type Insights } from "#probe-agent/analysis/page/pagespeed-insights.ts";
import type { Strategy } from "#probe-agent/analysis/page/pagespeed-conditions.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchJson } from "#probe-agent/sources/json.ts";
import type { ServiceSource } from "#probe-agent/sources/service-source.ts";

/**
 * Answer of PageSpeed Insights: data about the page, an error that it cannot load the page, or a short reason why there
 * is no answer.
 */
export type InsightsOutcome =
  | { readonly kind: "insights"; readonly insights: Insights }
  | { readonly kind: "page_failed"; readonly code: string; readonly message: string }
  | { readonly kind: "unavailable"; readonly source: ServiceSource; readonly reason: string };

const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;
/** Maximum size of an answer. Results have 200 KB to 5 MB, including pictures of the page. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Asks PageSpeed Insights v5 about a page. The key is used only in the request. */
export async function askInsights(
  net: Net,
  page: { readonly url: string; readonly strategy: Strategy },
  timeoutMs: number,
): Promise<InsightsOutcome> {
  const { psiUrl, psiKey } = net.services;
  const url = new URL(psiUrl);
  url.searchParams.set("url", page.url);
  url.searchParams.set("strategy", page.strategy);
  url.searchParams.set("locale", "en");
  for (const category of CATEGORIES) url.searchParams.append("category", category);
  if (psiKey !== null) url.searchParams.set("key", psiKey);
  const answer = await fetchJson(net, { url: url.href, trusted: true, maxBytes: MAX_BYTES, timeoutMs });
  if (answer.ok) {
    const read = readInsights(answer.value);
    return read.kind === "unreadable" ? unavailable("an answer in an unknown form", "service") : read;
  }
  const { source, reason, status, body } = answer;
  const failure = status === null || status === 429 ? null : readPageError(body ?? "");
  if (failure !== null) return { kind: "page_failed", ...failure };
  return unavailable(status === 429 ? quota(psiKey) : reason, source);
}

function quota(key: string | null): string {
  return key === null
    ? "its free quota is used up (status 429); set VANTAGE_PSI_KEY"
    : "the key's quota is used up (status 429)";
}

function unavailable(reason: string, source: ServiceSource): InsightsOutcome {
  return { kind: "unavailable", source, reason };
}
