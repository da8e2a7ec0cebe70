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
export function reportTechnologies(found: readonly Technology[]): TechReport {
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
