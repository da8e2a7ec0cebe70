import { runTest, type Match } from "#probe-agent/analysis/page/tech/match.ts";
import type { Pattern } from "#probe-agent/analysis/page/tech/pattern.ts";
import { resolveFindings, type Finding } from "#probe-agent/analysis/page/tech/resolve.ts";
import type { Rule, TechRules } from "#probe-agent/analysis/page/tech/rule.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { readSubject, type Subject, type TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import { toTechnologies, type Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** Options of a search that can take long. */
interface Watch {
  /** Names of rules that are not tested. */
  readonly skip?: ReadonlySet<string>;
  /** Called before each test of a rule. false ends the search with the technologies found so far. */
  goOn?(rule: Rule): boolean;
  /** The page's parsed HTML. If given, `html` of the page is not read. */
  readonly parsed?: Page;
}

/** Result of a search. */
interface Detection {
  readonly technologies: Technology[];
  /** Number of rules that were due but not tested when the search ended. */
  readonly unfinished: number;
}

/** Detects the technologies of a page, sorted by confidence. Rules and pages can take long: `watch` can end it. Pure. */
export function detectWatched(page: TechPage, rules: TechRules, watch: Watch = {}): Detection {
  const search = new Search(readSubject(page, rules.literals, watch.parsed), watch);
  const waiting = new Set(rules.rules.filter((rule) => watch.skip?.has(rule.name) !== true));
  let findings = new Map<string, Finding>();
  for (;;) {
    // Rules that require a technology found in this round are tested in the next one, until no rule is added.
    const due = [...waiting].filter((rule) => isDue(rule, findings));
    if (due.length === 0 || search.stopped) break;
    for (const rule of due) {
      if (!search.run(rule)) break;
      waiting.delete(rule);
    }
    findings = resolveFindings(search.seen, rules);
  }
  const unfinished = search.stopped ? [...waiting].filter((rule) => isDue(rule, findings)).length : 0;
  return { technologies: toTechnologies(findings.values(), rules.categories), unfinished };
}

function isDue({ requires, requiresCategories }: Rule, findings: ReadonlyMap<string, Finding>): boolean {
  if (requires.length === 0 && requiresCategories.length === 0) return true;
  if (requires.some((name) => findings.has(name))) return true;
  const needed = new Set(requiresCategories);
  return needed.size > 0 && findings.values().some(({ rule }) => rule.categories.some((id) => needed.has(id)));
}

class Search {
  readonly seen: Finding[] = [];
  stopped = false;
  readonly #subject: Subject;
  readonly #watch: Watch;

  constructor(subject: Subject, watch: Watch) {
    this.#subject = subject;
    this.#watch = watch;
  }

  /** Tests a rule on the page. Returns false if the search was ended first. */
  run(rule: Rule): boolean {
    const fitting = new Set<Pattern>();
    const matches: Match[] = [];
    for (const test of rule.tests) {
      if (this.#watch.goOn?.(rule) === false) {
        this.stopped = true;
        return false;
      }
      for (const match of runTest(test, this.#subject)) {
        fitting.add(test.pattern);
        matches.push(match);
      }
    }
    const confidence = Math.min(
      100,
      [...fitting].reduce((sum, pattern) => sum + pattern.confidence, 0),
    );
    if (confidence > 0 && confidence >= rule.least)
      this.seen.push({ rule, confidence, version: bestVersion(matches), matches, impliedBy: null });
    return true;
  }
}

/** Returns the longest version, or the first of those of equal length. */
function bestVersion(matches: readonly Match[]): string | null {
  return matches.reduce<string | null>(
    (best, { version }) => (version !== null && version.length > (best?.length ?? 0) ? version : best),
    null,
  );
}
