import { ok } from "#shared/contracts/outcome.ts";
import { techDetect as contract } from "#shared/tools/tech-detect/contract.ts";
import { fingerprint } from "#probe-agent/sources/fingerprint.ts";
import { fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** Maximum size of the list as JSON, in bytes. A result is limited to 256 KB, and the categories repeat the names. */
const MAX_BYTES = 160_000;

/** Technologies as reported in a result. */
interface TechReport {
  readonly technologies: Technology[];
  readonly count: number;
  readonly categories: Record<string, string[]>;
  readonly limitations: readonly string[];
}

/** Cuts the list to the size limit and groups its names by category. */
function reportTechnologies(found: readonly Technology[]): TechReport {
  const technologies = leading(found, MAX_BYTES);
  const byCategory = new Map<string, string[]>();
  for (const { name, categories } of technologies) {
    for (const category of categories) {
      const names = byCategory.get(category.name) ?? [];
      names.push(name);
      byCategory.set(category.name, names);
    }
  }
  const left = found.length - technologies.length;
  return {
    technologies,
    count: found.length,
    categories: Object.fromEntries(byCategory),
    limitations:
      left === 0
        ? []
        : [`Only the ${technologies.length} of ${found.length} technologies with the highest confidence are shown.`],
  };
}

/** Maximum time to fetch the page, in milliseconds. Leaves time to analyse it. */
const PAGE_MS = 18_000;

/** Detects technologies by a page, its headers, the DNS records of its host and its certificate. */
export const techDetect = implement(contract, async (net, { url }) => {
  const seen = await fetchPage(net, url, { timeoutMs: PAGE_MS });
  if (seen.status !== "ok") return seen;
  const { head, observedAt } = seen.data;
  const found = await fingerprint(net, seen.data);
  if (found.status !== "ok") return found;
  const { technologies, count, categories, limitations: cut } = reportTechnologies(found.data.technologies);
  return ok({
    ...head,
    technologies,
    count,
    categories,
    js_detection: "static" as const,
    rules: { technologies: net.data.techRules.technologies.length, unusable: found.data.unusable },
    source: ["page", ...found.data.sources],
    observed_at: observedAt,
    limitations: [...cut, ...found.data.limitations],
  });
});
