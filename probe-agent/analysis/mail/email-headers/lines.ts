/** Line endings of a text. none: the text is one line. */
export type LineEndings = "crlf" | "lf" | "cr" | "mixed" | "none";

/** Lines without their endings. */
interface Lines {
  readonly lines: readonly string[];
  readonly endings: LineEndings;
}

const LF = 10;
const CR = 13;

/**
 * Splits a text at CRLF, LF and CR. Several CRs before an LF are one ending: text that was converted twice has them,
 * and as separate endings they would end a header block too early.
 */
export function readLines(text: string): Lines {
  const lines: string[] = [];
  const seen = new Set<"crlf" | "lf" | "cr">();
  // A byte order mark is not part of the first field's name.
  let start = text.startsWith("\uFEFF") ? 1 : 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== LF && code !== CR) continue;
    lines.push(text.slice(start, at));
    if (code === LF) {
      seen.add("lf");
    } else {
      const first = at;
      while (text.charCodeAt(at + 1) === CR) at += 1;
      if (text.charCodeAt(at + 1) === LF) {
        at += 1;
        seen.add("crlf");
      } else {
        for (let extra = first; extra < at; extra += 1) lines.push("");
        seen.add("cr");
      }
    }
    start = at + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  const [only = "none"] = seen;
  return { lines, endings: seen.size > 1 ? "mixed" : only };
}
