import { refuse, type Read } from "#shared/schema/problem.ts";
import { hiddenProblem } from "#shared/hidden-characters.ts";

/** Maximum length of a note or an update, in characters. */
export const MOST_TEXT = 5_000;

/** Returns the title that the incident of an outage has at first. */
export function outageTitle(monitorName: string): string {
  return `${monitorName} is down`;
}

/** Reads a note or an update: line breaks become LF. Other control characters and blank texts are refused. */
export function readText(field: string, given: string): Read<string> {
  const text = given.replaceAll(/\r\n?/g, "\n");
  // PostgreSQL stores neither NUL nor half of a surrogate pair.
  if (!text.isWellFormed() || /[^\P{Cc}\n]/u.test(text)) {
    return refuse(field, "type", "must not contain control characters other than line breaks");
  }
  return readVisible(field, text, text);
}

/** Reads a title, which a schema has already found to be one line. */
export function readTitle(title: string): Read<string> {
  return readVisible("title", title, title.trim());
}

function readVisible(field: string, given: string, text: string): Read<string> {
  const problem = hiddenProblem(given);
  if (problem !== null) return refuse(field, "type", problem);
  return given.trim() === "" ? refuse(field, "range", "must not be blank") : { ok: true, value: text };
}
