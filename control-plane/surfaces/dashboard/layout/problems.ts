import type { Refusal } from "#control-plane/http/errors.ts";

/** Returns what is wrong by the path of the field: "" is the form as a whole. Messages are sentences. Pure. */
export function problemsOf({ details }: Refusal): ReadonlyMap<string, string> {
  const { field = "", message, problems = [] } = details;
  if (problems.length > 0) return new Map(problems.map((one) => [one.field ?? "", sentence(one.message)]));
  // The field is named by its label; a message of the API begins with its name.
  const rest = field !== "" && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return new Map([[field, sentence(rest)]]);
}

/** Writes a text with a capital at its beginning. */
export function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Writes a text as a sentence: with a capital at its beginning and a stop at its end. */
export function sentence(text: string): string {
  return `${capital(text)}${/[.?!:]$/.test(text) || text === "" ? "" : "."}`;
}
