import type { Match } from "#probe-agent/analysis/page/tech/match.ts";
import type { Rule, TechRules } from "#probe-agent/analysis/page/tech/rule.ts";

/** A detected or implied technology, before it becomes part of the result. */
export interface Finding {
  readonly rule: Rule;
  /** 1 to 100. */
  readonly confidence: number;
  readonly version: string | null;
  readonly matches: readonly Match[];
  /** Name of the technology that implies it. null if it was detected itself. */
  readonly impliedBy: string | null;
}

/** Removes excluded technologies from the detected ones and adds implied ones. */
export function resolveFindings(seen: readonly Finding[], { byName }: TechRules): Map<string, Finding> {
  const { kept, excluded } = withoutExcluded(seen);
  const findings = new Map(kept.map((finding) => [finding.rule.name, finding]));
  // The confidence of a finding only grows here, so cycles of implications end.
  const queue = [...kept];
  for (let finding = queue.shift(); finding !== undefined; finding = queue.shift()) {
    for (const { name, confidence, version } of finding.rule.implies) {
      const rule = byName.get(name);
      const sure = Math.min(finding.confidence, confidence);
      const known = findings.get(name);
      if (rule === undefined || excluded.has(name) || sure <= 0) continue;
      if (known !== undefined && (known.impliedBy === null || known.confidence >= sure)) continue;
      const implied: Finding = {
        rule,
        confidence: sure,
        version: version === "" ? (known?.version ?? null) : version,
        matches: [{ type: "implied", match: finding.rule.name, version: null }],
        impliedBy: finding.rule.name,
      };
      findings.set(name, implied);
      queue.push(implied);
    }
  }
  return findings;
}

/** Removes excluded findings. If two exclude each other, the one with the higher confidence stays. */
function withoutExcluded(seen: readonly Finding[]): { kept: Finding[]; excluded: Set<string> } {
  const excluded = new Set<string>();
  const strongest = seen.toSorted((one, other) => other.confidence - one.confidence);
  for (const { rule } of strongest) {
    if (!excluded.has(rule.name)) for (const name of rule.excludes) excluded.add(name);
  }
  return { kept: seen.filter(({ rule }) => !excluded.has(rule.name)), excluded };
}
