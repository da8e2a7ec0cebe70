import type { FieldProblem } from "#shared/schema/problem.ts";
import { hiddenProblem } from "#shared/hidden-characters.ts";

/** Maximum length of a note or an update, in characters. */
export const MOST_TEXT = 5_000;

/** A text as it is stored, or why it is refused. */
type ReadText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: FieldProblem };

/** Returns the title that the incident of an outage has at first. */
export function outageTitle(monitorName: string): string {
  return `${monitorName} is down`;
}

/** Reads a note or an update: line breaks become LF. Other control characters and blank texts are refused. */
export function readText(field: string, given: string): ReadText {
  const text = given.replaceAll(/\r\n?/g, "\n");
  // PostgreSQL stores neither NUL nor half of a surrogate pair.
  if (!text.isWellFormed() || /[^\P{Cc}\n]/u.test(text)) {
    return refuse(field, "type", "must not contain control characters other than line breaks");
  }
  return readVisible(field, text, text);
}

/** Reads a title, which a schema has already found to be one line. */
export function readTitle(title: string): ReadText {
  return readVisible("title", title, title.trim());
}

function readVisible(field: string, given: string, text: string): ReadText {
  const problem = hiddenProblem(given);
  if (problem !== null) return refuse(field, "type", problem);
  return given.trim() === "" ? refuse(field, "range", "must not be blank") : { ok: true, text };
}

function refuse(field: string, reason: FieldProblem["reason"], message: string): ReadText {
  return { ok: false, problem: { field, reason, message } };
}
