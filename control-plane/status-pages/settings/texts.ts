import type { Read, FieldProblem } from "#shared/schema/problem.ts";
import { hiddenProblem } from "#shared/hidden-characters.ts";

const CONTROL = /\p{Cc}/u;
const CONTROL_IN_LINES = /[^\P{Cc}\n]/u;

/** Reads a text of one line; blanks around it are removed. */
export function readLine(field: string, given: string): Read<string> {
  // PostgreSQL stores neither NUL nor half of a surrogate pair.
  if (!given.isWellFormed() || CONTROL.test(given)) {
    return refuse({ field, reason: "type", message: "must not contain control characters" });
  }
  return readVisible(field, given.trim());
}

/** Reads a text that can have several lines; line breaks become LF. */
export function readLines(field: string, given: string): Read<string> {
  const text = given.replaceAll(/\r\n?/g, "\n");
  if (!text.isWellFormed() || CONTROL_IN_LINES.test(text)) {
    return refuse({ field, reason: "type", message: "must not contain control characters other than line breaks" });
  }
  return readVisible(field, text);
}

function readVisible(field: string, text: string): Read<string> {
  const problem = hiddenProblem(text);
  if (problem !== null) return refuse({ field, reason: "type", message: problem });
  return text.trim() === ""
    ? refuse({ field, reason: "range", message: "must not be blank" })
    : { ok: true, value: text };
}

/** Returns the refusal of a field. */
export function refuse(problem: FieldProblem): Read<never> {
  return { ok: false, problem };
}
