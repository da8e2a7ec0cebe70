import { cmsReport } from "#probe-agent/analysis/page/cms-report.ts";
import { readRawPage } from "#probe-agent/analysis/html/read-page.ts";
import { detectWatched } from "#probe-agent/analysis/page/tech.ts";
import { compileRules } from "#probe-agent/analysis/page/tech/compile.ts";
import type { TechRules } from "#probe-agent/analysis/page/tech/rule.ts";
import {
  NO_RULE,
  PROGRESS,
  type TechOrder,
  type TechReport,
  type ThreadStart,
} from "#probe-agent/threads/analyses/messages.ts";

/**
 * Creates a thread's search for technologies. It compiles the rules at the first page. Its current position is visible
 * from outside in `progress` at any time, also while a regular expression runs. `monotonic` and `processorMs` tell the
 * time by the clock and the processor time of this thread, in milliseconds.
 */
export function createTechSearch(
  { rules: data, progress }: ThreadStart,
  monotonic: () => number,
  processorMs: () => number = monotonic,
): (order: TechOrder) => TechReport {
  const place = new Int32Array(progress);
  // Otherwise a page that takes long to parse would look like the first rule at work.
  Atomics.store(place, PROGRESS.rule, NO_RULE);
  const numbers = new Map(data.technologies.map(([name], number) => [name, number]));
  let compiled: TechRules | null = null;

  return ({ page, raw, withSystem, budgetMs, wallMs, skip }) => {
    const until = { clock: monotonic() + wallMs, processor: processorMs() + budgetMs };
    compiled ??= compileRules(data);
    const read = raw === null ? null : readRawPage(raw);
    try {
      const found = detectWatched(page, compiled, {
        ...(read?.page == null ? {} : { parsed: read.page }),
        skip: new Set(skip),
        goOn({ name }) {
          Atomics.store(place, PROGRESS.rule, numbers.get(name) ?? NO_RULE);
          Atomics.add(place, PROGRESS.step, 1);
          return monotonic() < until.clock && processorMs() < until.processor;
        },
      });
      return {
        ...found,
        system: withSystem && read !== null ? cmsReport(read) : null,
        truncated: read?.page?.truncated === true,
        unusable: compiled.unusable,
      };
    } finally {
      Atomics.store(place, PROGRESS.rule, NO_RULE);
    }
  };
}
