import type { EvidenceType } from "#shared/tools/tech-detect/contract.ts";
import type { Finding } from "#probe-agent/analysis/page/tech/resolve.ts";

/** A technology that a page uses. */
export interface Technology {
  name: string;
  slug: string;
  categories: { id: number; name: string }[];
  version: string | null;
  /** Percent, 1 to 100. */
  confidence: number;
  evidence: { type: EvidenceType; match: string }[];
  website: string | null;
  cpe: string | null;
  /** Name of the technology that implies it. null if it was detected itself. */
  implied_by: string | null;
}

const MAX_EVIDENCE = 6;

/** Converts findings to technologies of a result, sorted by confidence, then by name. */
export function toTechnologies(findings: Iterable<Finding>, categories: ReadonlyMap<number, string>): Technology[] {
  return [...findings]
    .map(({ rule, confidence, version, matches, impliedBy }) => ({
      name: rule.name,
      slug: rule.slug,
      categories: rule.categories.map((id) => ({ id, name: categories.get(id) ?? "Unknown" })),
      version,
      confidence,
      evidence: distinct(matches),
      website: rule.website,
      cpe: cpeWithVersion(rule.cpe, version),
      implied_by: impliedBy,
    }))
    .toSorted((one, other) => other.confidence - one.confidence || (one.name < other.name ? -1 : 1));
}

function distinct(matches: Finding["matches"]): Technology["evidence"] {
  const seen = new Map(matches.map(({ type, match }) => [`${type} ${match}`, { type, match }]));
  return [...seen.values()].slice(0, MAX_EVIDENCE);
}

/** Fills in the version of a CPE name if it is known and has a plain form (NISTIR 7695, section 6.2). */
export function cpeWithVersion(cpe: string | null, version: string | null): string | null {
  if (cpe === null || version === null || !/^\w+(?:\.\w+)*$/.test(version)) return cpe;
  const parts = cpe.split(":");
  if (parts[0] !== "cpe" || parts[1] !== "2.3" || parts[5] !== "*") return cpe;
  return parts.with(5, version).join(":");
}
