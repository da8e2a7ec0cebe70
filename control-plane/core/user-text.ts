import { hiddenProblem } from "#shared/text/hidden-characters.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";

const CONTROL = /\p{Cc}/u;
const CONTROL_IN_LINES = /[^\P{Cc}\n]/u;

/** Reads a text of one line; blanks around it are removed. Blank texts and hidden characters are refused. */
export function readLine(field: string, given: string): Read<string> {
  // PostgreSQL stores neither NUL nor half of a surrogate pair.
  if (!given.isWellFormed() || CONTROL.test(given)) {
    return refuse(field, "type", "must not contain control characters");
  }
  return readVisible(field, given.trim());
}

/** Reads a text that can have several lines; line breaks become LF. Blank texts and hidden characters are refused. */
export function readLines(field: string, given: string): Read<string> {
  const text = given.replaceAll(/\r\n?/g, "\n");
  if (!text.isWellFormed() || CONTROL_IN_LINES.test(text)) {
    return refuse(field, "type", "must not contain control characters other than line breaks");
  }
  return readVisible(field, text);
}

/** Reads a label as it is. Characters that people do not see, or that change what they see, are refused. */
export function readLabel(field: string, given: string): Read<string> {
  const problem = hiddenProblem(given);
  return problem === null ? { ok: true, value: given } : refuse(field, "type", problem);
}

/** Refuses a blank text, and characters that people do not see or that change what they see. */
export function readVisible(field: string, text: string): Read<string> {
  const problem = hiddenProblem(text);
  if (problem !== null) return refuse(field, "type", problem);
  return text.trim() === "" ? refuse(field, "range", "must not be blank") : { ok: true, value: text };
}
