import { sortFindings, type Finding, type Severity } from "#shared/contracts/findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";

/** A finding as an analysis makes it: what was found and where. The tool's table of advice adds the rest. */
export interface FindingDraft<Id extends string = string> {
  readonly id: Id;
  /** Description in whole sentences with the observed values. */
  readonly message: string;
  /** The part of the result that the finding is about. If absent, the `where` of `adviseOn` applies. */
  readonly where?: string;
  /** These override the table if the case decides. */
  readonly severity?: Severity;
  readonly how?: string | null;
  readonly reference?: string | null;
}

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

/** Makes a draft. `where` null: the `where` of `adviseOn` applies. */
export function finding<Id extends string>(
  id: Id,
  where: string | null,
  message: string,
  severity?: Severity,
): FindingDraft<Id> {
  return { id, message, ...(where === null ? {} : { where }), ...(severity === undefined ? {} : { severity }) };
}

/** Severity and advice of one kind of finding. */
interface Advice<Context> {
  readonly severity: Severity;
  /** The change to make, or a function that makes it from the context; null if no change is needed. */
  readonly how: string | null | ((context: Context, where: string | null) => string | null);
  readonly reference: string | null;
}

/** Advice for every kind of finding of one tool. The compiler requires an entry for each kind. */
export type AdviceTable<Id extends string, Context = null> = Readonly<Record<Id, Advice<Context>>>;

/**
 * Completes drafts with a table of advice, in the same order. `where` applies to drafts without their own. Ids of
 * findings are kebab-case: underscores, as in the names of checks, become hyphens.
 */
export function adviseOn<Id extends string, Context>(
  table: AdviceTable<Id, Context>,
  drafts: readonly FindingDraft<Id>[],
  context: Context,
  where: string | null = null,
): Finding[] {
  return drafts.map((draft) => {
    const { severity, how, reference } = table[draft.id];
    const part = draft.where ?? where;
    const advised = typeof how === "function" ? how(context, part) : how;
    return {
      id: draft.id.replaceAll("_", "-"),
      severity: draft.severity ?? severity,
      message: draft.message,
      how: draft.how === undefined ? advised : draft.how,
      reference: draft.reference === undefined ? reference : draft.reference,
      where: part,
    };
  });
}

/**
 * Sorts findings, most severe first, and keeps up to `max` of them. Returns a limitation for the result if findings
 * were left out.
 */
export function boundFindings(
  findings: readonly Finding[],
  max: number,
): { readonly findings: Finding[]; readonly limitations: string[] } {
  const sorted = sortFindings(findings);
  const limitations = sorted.length > max ? [`Of ${sorted.length} findings the ${max} most severe are listed.`] : [];
  return { findings: sorted.slice(0, max), limitations };
}

/**
 * Sorts findings worst first and removes repeats with the same kind, place and message. Keeps up to ten of a kind, and
 * as many as fit into `maxBytes` of JSON. Replaces control characters, which come from the site.
 */
export function fitFindings(found: readonly Finding[], maxBytes = LIST_BYTES): FittedFindings {
  const distinct = new Map<string, Finding>();
  for (const one of found) {
    const shown = {
      ...one,
      message: printable(one.message, MAX_MESSAGE),
      where: one.where === null ? null : printable(one.where, MAX_WHERE),
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
