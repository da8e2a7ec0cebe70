import { sortFindings, type Finding } from "#shared/findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";

/** Findings cut to the size of a result. */
interface FittedFindings {
  readonly findings: Finding[];
  /** Number of findings that were left out. */
  readonly omitted: number;
  /** One sentence with the number of findings left out. Empty if there are none. */
  readonly limitations: readonly string[];
}

/** Maximum number of findings of one kind in a result. A hostile page could cause thousands. */
const MAX_PER_KIND = 10;
/** Maximum lengths of `message` and `where`, in characters. Both can quote the site. */
const MAX_MESSAGE = 600;
const MAX_WHERE = 300;
/** Default maximum size of the list as JSON, in bytes. */
const LIST_BYTES = 40_000;

/**
 * Sorts findings worst first and removes repeats with the same kind, place and message. Keeps up to ten of a kind, and
 * as many as fit into `maxBytes` of JSON. Replaces control characters, which come from the site.
 */
export function fitFindings(found: readonly Finding[], maxBytes = LIST_BYTES): FittedFindings {
  const distinct = new Map<string, Finding>();
  for (const finding of found) {
    const shown = {
      ...finding,
      message: printable(finding.message, MAX_MESSAGE),
      where: finding.where === null ? null : printable(finding.where, MAX_WHERE),
    };
    distinct.set(JSON.stringify([shown.id, shown.where, shown.message]), shown);
  }
  const perKind = new Map<string, number>();
  const few = sortFindings([...distinct.values()]).filter(({ id }) => {
    const count = (perKind.get(id) ?? 0) + 1;
    perKind.set(id, count);
    return count <= MAX_PER_KIND;
  });
  const findings = leading(few, maxBytes);
  const omitted = distinct.size - findings.length;
  return {
    findings,
    omitted,
    limitations: omitted === 0 ? [] : [`${omitted} more findings of the same kinds are not listed.`],
  };
}

function printable(text: string, maxCharacters: number): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return cut.replaceAll(/\p{Cc}/gu, "\uFFFD").toWellFormed();
}
