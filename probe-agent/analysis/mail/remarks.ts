import { sortFindings, type Finding, type Severity } from "#shared/findings.ts";

/** One thing that an analysis found. Its kind's severity, advice and reference are in a guide. */
export interface Remark<Id extends string = string> {
  readonly id: Id;
  /** What was found, whole sentences with the observed values. */
  readonly message: string;
  /** The part of the result it is about; absent: what `adviseOn` is given for all. */
  readonly where?: string;
  /** In place of the guide's severity, where the case decides. */
  readonly severity?: Severity;
}

/** What a kind of finding means, and what to do about it. */
interface Advice<Context> {
  readonly severity: Severity;
  /** The change to make; a function where it needs names or records of the context; null where nothing is to do. */
  readonly how: string | null | ((context: Context, where: string | null) => string | null);
  readonly reference: string | null;
}

/** The advice of every kind of finding of one analysis; the compiler wants a row for each. */
export type Guide<Id extends string, Context = null> = Readonly<Record<Id, Advice<Context>>>;

/** Makes findings of remarks by a guide, in the order given. `where` is the part of remarks that name none. */
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

/** Findings of one result: worst first, at most `max`, and the limitation to add where some are left out. */
export function boundFindings(
  findings: readonly Finding[],
  max: number,
): { readonly findings: Finding[]; readonly limitations: string[] } {
  const sorted = sortFindings(findings);
  const limitations = sorted.length > max ? [`Of ${sorted.length} findings the ${max} most severe are listed.`] : [];
  return { findings: sorted.slice(0, max), limitations };
}

/** Advice to publish a TXT record, quoted as zone files have it; the name has no final dot. */
export function publishTxt(name: string, text: string): string {
  return `Publish this TXT record at ${name}: "${text}"`;
}
