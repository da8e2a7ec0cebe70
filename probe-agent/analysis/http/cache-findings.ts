import type { Finding, Severity } from "#shared/findings.ts";
import { parseCacheControl, type CacheProblemId } from "#probe-agent/analysis/http/cache-control.ts";
import { headerElements, headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";

const RFC9111 = "https://www.rfc-editor.org/rfc/rfc9111";

/** Severity and advice for each problem of Cache-Control. */
const ADVICE: Readonly<Record<CacheProblemId, { readonly severity: Severity; readonly how: string }>> = {
  "cache-directive-unreadable": { severity: "warning", how: "Write Cache-Control as directives separated by commas." },
  "cache-directive-repeated": { severity: "info", how: "Send each directive of Cache-Control once." },
  "cache-directive-unknown": { severity: "info", how: "Correct or remove the directive." },
  "cache-seconds-missing": {
    severity: "warning",
    how: "Write the directive with a whole number of seconds, e.g. max-age=3600.",
  },
  "cache-private-and-public": { severity: "warning", how: "Send private or public, not both." },
  "cache-no-store-with-max-age": {
    severity: "info",
    how: "Remove max-age, or remove no-store if caches may keep copies.",
  },
};

/** Returns findings about caching headers that break the grammar or contradict each other; `where` names the header. */
export function cacheFindings(headers: readonly HeaderPair[], now: Date): Finding[] {
  const problems = parseCacheControl(headerValues(headers, "cache-control"))?.problems ?? [];
  return [
    ...problems.map(
      ({ id, message }): Finding => ({
        id,
        severity: ADVICE[id].severity,
        message: `${message}.`,
        how: ADVICE[id].how,
        reference: `${RFC9111}#section-5.2`,
        where: "Cache-Control",
      }),
    ),
    ...expiresFindings(headers, now),
    ...varyFindings(headers),
  ];
}

function expiresFindings(headers: readonly HeaderPair[], now: Date): Finding[] {
  const [raw] = headerValues(headers, "expires");
  if (raw === undefined || raw === "0" || raw === "-1" || parseHttpDate(raw, now) !== null) return [];
  return [
    {
      id: "expires-not-a-date",
      severity: "warning",
      message: `Expires is ${JSON.stringify(raw.slice(0, 80))}, which is not an HTTP date; caches treat the response as expired.`,
      how: "Send Expires as an HTTP date, e.g. Expires: Thu, 01 Jan 2026 00:00:00 GMT, or remove it if you send Cache-Control.",
      reference: `${RFC9111}#section-5.3`,
      where: "Expires",
    },
  ];
}

function varyFindings(headers: readonly HeaderPair[]): Finding[] {
  if (!headerElements(headers, "vary").includes("*")) return [];
  return [
    {
      id: "vary-any",
      severity: "warning",
      message: "Vary is *, so caches cannot reuse a stored copy.",
      how: "List the request headers that the response depends on, e.g. Vary: Accept-Encoding.",
      reference: `${RFC9111}#section-4.1`,
      where: "Vary",
    },
  ];
}
