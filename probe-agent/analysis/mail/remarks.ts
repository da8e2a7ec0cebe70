import { sortFindings, type Finding, type Severity } from "#shared/findings.ts";

/** One observation of an analysis. A guide has the severity, the advice and the reference of its kind. */
export interface Remark<Id extends string = string> {
  readonly id: Id;
  /** Description of the observation in whole sentences with the observed values. */
  readonly message: string;
  /** The part of the result that the remark is about. If absent, the `where` of `adviseOn` applies. */
  readonly where?: string;
  /** Overrides the guide's severity if the case decides. */
  readonly severity?: Severity;
}

/** Severity and advice of one kind of finding. */
interface Advice<Context> {
  readonly severity: Severity;
  /** The change to make, or a function that makes it from the context; null if no change is needed. */
  readonly how: string | null | ((context: Context, where: string | null) => string | null);
  readonly reference: string | null;
}

/** Advice for every kind of finding of one analysis. The compiler requires an entry for each kind. */
export type Guide<Id extends string, Context = null> = Readonly<Record<Id, Advice<Context>>>;

/** Converts remarks to findings with a guide, in the same order. `where` applies to remarks without their own. */
export function adviseOn<Id extends string, Context>(
  guide: Guide<Id, Context>,
  remarks: readonly Remark<Id>[],
  context: Context,
  where: string | null = null,
): Finding[] {
  return remarks.map((remark) => {
    const { severity, how, reference } = guide[remark.id];
    const part = remark.where ?? where;
    return {
      id: remark.id,
      severity: remark.severity ?? severity,
      message: remark.message,
      how: typeof how === "function" ? how(context, part) : how,
      reference,
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

/** Returns the advice to publish a TXT record. The text is quoted as in zone files; the name has no final dot. */
export function publishTxt(name: string, text: string): string {
  return `Publish this TXT record at ${name}: "${text}"`;
}
