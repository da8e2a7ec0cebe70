import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { parseCacheControl, type CacheProblemId } from "#probe-agent/analysis/http/cache-control.ts";
import { headerElements, headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";

const RFC9111 = "https://www.rfc-editor.org/rfc/rfc9111";

const CACHE_CONTROL = `${RFC9111}#section-5.2`;

/** Severity and advice for each kind of finding. */
const CACHE_ADVICE = {
  "cache-directive-unreadable": {
    severity: "warning",
    how: "Write Cache-Control as directives separated by commas.",
    reference: CACHE_CONTROL,
  },
  "cache-directive-repeated": {
    severity: "info",
    how: "Send each directive of Cache-Control once.",
    reference: CACHE_CONTROL,
  },
  "cache-directive-unknown": { severity: "info", how: "Correct or remove the directive.", reference: CACHE_CONTROL },
  "cache-seconds-missing": {
    severity: "warning",
    how: "Write the directive with a whole number of seconds, e.g. max-age=3600.",
    reference: CACHE_CONTROL,
  },
  "cache-private-and-public": {
    severity: "warning",
    how: "Send private or public, not both.",
    reference: CACHE_CONTROL,
  },
  "cache-no-store-with-max-age": {
    severity: "info",
    how: "Remove max-age, or remove no-store if caches may keep copies.",
    reference: CACHE_CONTROL,
  },
  "expires-not-a-date": {
    severity: "warning",
    how: "Send Expires as an HTTP date, e.g. Expires: Thu, 01 Jan 2026 00:00:00 GMT, or remove it if you send Cache-Control.",
    reference: `${RFC9111}#section-5.3`,
  },
  "vary-any": {
    severity: "warning",
    how: "List the request headers that the response depends on, e.g. Vary: Accept-Encoding.",
    reference: `${RFC9111}#section-4.1`,
  },
} as const satisfies AdviceTable<CacheProblemId | "expires-not-a-date" | "vary-any">;

type Draft = FindingDraft<keyof typeof CACHE_ADVICE>;

/** Returns findings about caching headers that break the grammar or contradict each other; `where` names the header. */
export function cacheFindings(headers: readonly HeaderPair[], now: Date): Finding[] {
  const problems = parseCacheControl(headerValues(headers, "cache-control"))?.problems ?? [];
  const drafts: Draft[] = [
    ...problems.map(({ id, message }) => finding(id, "Cache-Control", `${message}.`)),
    ...expiresFindings(headers, now),
    ...varyFindings(headers),
  ];
  return adviseOn(CACHE_ADVICE, drafts, null);
}

function expiresFindings(headers: readonly HeaderPair[], now: Date): Draft[] {
  const [raw] = headerValues(headers, "expires");
  if (raw === undefined || raw === "0" || raw === "-1" || parseHttpDate(raw, now) !== null) return [];
  const value = JSON.stringify(raw.slice(0, 80));
  const message = `Expires is ${value}, which is not an HTTP date; caches treat the response as expired.`;
  return [finding("expires-not-a-date", "Expires", message)];
}

function varyFindings(headers: readonly HeaderPair[]): Draft[] {
  if (!headerElements(headers, "vary").includes("*")) return [];
  return [finding("vary-any", "Vary", "Vary is *, so caches cannot reuse a stored copy.")];
}
