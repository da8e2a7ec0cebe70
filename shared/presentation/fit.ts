import type { Presentation } from "#shared/presentation/presentation.ts";

/** A presentation that was cut to a size. */
interface Fitted {
  readonly shown: Presentation;
  /** Number of findings and facts that were left out; tables count their own rows. */
  readonly left: number;
}

/**
 * Cuts a presentation to a number of characters of text: the first findings are kept, then the first facts, then the
 * first rows of each table. Ordinary results are far below; the limit is for those of hostile targets.
 */
export function fitPresentation(shown: Presentation, characters: number): Fitted {
  let room = characters;
  const takes = (...texts: readonly (string | null)[]): boolean => {
    room -= texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    return room >= 0;
  };
  const findings = shown.findings.filter(({ message, how, where, reference }) => takes(message, how, where, reference));
  const facts = shown.facts.filter(({ label, value }) => takes(label, value));
  const tables = shown.tables.map((table) => {
    const rows = table.rows.filter(({ cells }) => takes(...cells));
    return { ...table, rows, more: table.more + table.rows.length - rows.length };
  });
  const left = shown.findings.length + shown.facts.length - findings.length - facts.length;
  return { shown: { ...shown, findings, facts, tables: tables.filter(({ rows }) => rows.length > 0) }, left };
}
