import { scoreHealth, type HealthScore } from "#probe-agent/analysis/site/health/score.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/health/snapshot.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";

/** Facts about a site in addition to the page itself. */
export type HealthFacts = Omit<HealthSnapshot, "finalUrl" | "status" | "headers" | "page" | "unread">;

/** Scores a page and the facts about its site. */
export function healthReport({ url, status, headers, page, unread }: ReadPage, facts: HealthFacts): HealthScore {
  return scoreHealth({ ...facts, finalUrl: url, status, headers, page, unread });
}
