import { scoreHealth, type HealthScore } from "#probe-agent/analysis/site/health/score.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/health/snapshot.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";

/** What is known of a site beside the page itself. */
export type HealthFacts = Omit<HealthSnapshot, "finalUrl" | "status" | "headers" | "page" | "unread">;

/** The score of a page and of what stands beside it. */
export function healthReport({ url, status, headers, page, unread }: ReadPage, facts: HealthFacts): HealthScore {
  return scoreHealth({ ...facts, finalUrl: url, status, headers, page, unread });
}
