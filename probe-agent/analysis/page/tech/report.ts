import { leading } from "#probe-agent/analysis/text/json-size.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** Octets of JSON for the list: a result holds 256 KB, and the categories repeat the names. */
const MAX_BYTES = 160_000;

/** Technologies as a result shows them. */
interface TechReport {
  readonly technologies: Technology[];
  readonly count: number;
  readonly categories: Record<string, string[]>;
  readonly limitations: readonly string[];
}

/** Cuts the list to what fits and sorts its names into categories. */
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
    limitations: left === 0 ? [] : [`The ${technologies.length} surest of ${found.length} technologies are shown.`],
  };
}
