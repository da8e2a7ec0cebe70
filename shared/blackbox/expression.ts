import { RE2JS, RE2JSException } from "re2js";

/** A regular expression of RE2, the syntax of Go, whose time is linear in the text. */
export interface Expression {
  /** As in the file. */
  readonly source: string;
  /** Reports whether it matches somewhere in the text. */
  matches(text: string): boolean;
  /**
   * Returns the first match: a function that replaces $1, ${1} and ${name} in a text by what its groups matched, as Go's
   * Regexp.Expand does. Returns null if there is none.
   */
  find(text: string): ((template: string) => string) | null;
}

/** Compiles an expression, or returns why it is invalid. */
export function compileExpression(source: string): Expression | { readonly fault: string } {
  try {
    const compiled = RE2JS.compile(source);
    return {
      source,
      matches: (text) => compiled.test(text),
      find(text) {
        const matcher = compiled.matcher(text);
        if (!matcher.find()) return null;
        const names = matcher.namedGroups;
        const group = (name: string): string => {
          const number = /^\d{1,3}$/.test(name) ? Number(name) : names[name];
          return number === undefined || number > matcher.groupCount() ? "" : (matcher.group(number) ?? "");
        };
        return (template) => expand(template, group);
      },
    };
  } catch (error) {
    if (error instanceof RE2JSException) return { fault: error.message };
    throw error;
  }
}

/** Replaces references as Go does: $name takes the longest run of letters, digits and underscores; $$ is a dollar sign. */
function expand(template: string, group: (name: string) => string): string {
  return template.replaceAll(
    /\$(?:\$|\{(\w{1,200})\}|(\w{1,200}))/g,
    (whole, braced: string | undefined, bare: string | undefined) =>
      whole === "$$" ? "$" : group(braced ?? bare ?? ""),
  );
}
