import { sortFindings, type Finding } from "#shared/findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";

/** Findings as a result holds them, and a sentence where some were left out. */
interface FittedFindings {
  readonly findings: Finding[];
  /** Empty, or one sentence with the number left out. */
  readonly limitations: readonly string[];
}

/** Findings of one kind that a result lists: a hostile page must not make thousands. */
const MAX_PER_KIND = 10;
/** Characters of a message and of the place it is about: both may quote the site. */
const MAX_MESSAGE = 600;
const MAX_WHERE = 300;
/** Octets of JSON for the list, where the tool says nothing else. */
const LIST_BYTES = 40_000;

/**
 * Orders findings worst first, drops repeats (same kind, same place, same message), keeps ten of a kind and as many as
 * `maxBytes` of JSON hold. Control characters of the site are replaced.
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
  const left = distinct.size - findings.length;
  return {
    findings,
    limitations: left === 0 ? [] : [`${left} more findings of the same kinds are not listed.`],
  };
}

function printable(text: string, maxCharacters: number): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return cut.replaceAll(/\p{Cc}/gu, "\uFFFD").toWellFormed();
}
