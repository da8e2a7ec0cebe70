/** One header field. */
export interface Field {
  /** Position from the top, starting at 0. */
  readonly index: number;
  /** Name, verbatim. */
  readonly name: string;
  /** Name in lower case. */
  readonly key: string;
  /** Unfolded value (RFC 5322 section 2.2.3) without white space at both ends. Encoded words are not decoded. */
  readonly value: string;
}

/** Number of occurrences of each tolerated violation of RFC 5322. */
interface BlockFaults {
  /** White space before the colon (section 4.5, obsolete). */
  readonly space_before_colon: number;
  /** Lines inside a field that consist of white space (section 4.2, obsolete). */
  readonly blank_continuation: number;
  /** Lines that neither begin a field nor are indented. They continue the field above. */
  readonly unindented_continuation: number;
  /** Such lines before the first field. They are ignored. */
  readonly stray_line: number;
  /** Lines of more than 998 characters (section 2.1.1). */
  readonly long_line: number;
}

/** A parsed header block. */
export interface HeaderBlock {
  /** Up to MAX_FIELDS fields, from top to bottom. */
  readonly fields: readonly Field[];
  /** Number of fields that were left out. */
  readonly omitted: number;
  readonly faults: BlockFaults;
  readonly lineEndings: LineEndings;
  /** The "From " line before a message in mbox files (RFC 4155); null without one. */
  readonly mboxFrom: string | null;
  /** Whether an empty line with text after it follows the fields. */
  readonly hasBody: boolean;
}

/** Maximum number of fields that are read. Real messages have fewer than 200. */
export const MAX_FIELDS = 5000;
const MAX_LINE = 998;
/** Maximum length of a field name. */
const MAX_NAME = 256;
// ftext of RFC 5322 section 3.6.8: printable ASCII except the colon.
const FIELD_NAME = /^[!-9;-~]+$/;
const CLOCK = /^\d{1,2}:\d{2}\b/;
// Does not match the obsolete "From : ...".
const MBOX_FROM = /^>?From (?! *:)/;

/** Line endings of a text. none: the text is one line. */
type LineEndings = "crlf" | "lf" | "cr" | "mixed" | "none";

/** Lines without their endings. */
interface Lines {
  readonly lines: readonly string[];
  readonly endings: LineEndings;
}

const LF = 10;
const CR = 13;

/**
 * Parses a header block as mail software does: joins folded lines; accepts CRLF, LF and CR as line endings; accepts
 * obsolete forms; ends at an empty line. Never fails. Reads each line once.
 */
export function readHeaderBlock(text: string): HeaderBlock {
  const { lines, endings } = readLines(text);
  const faults = {
    space_before_colon: 0,
    blank_continuation: 0,
    unindented_continuation: 0,
    stray_line: 0,
    long_line: 0,
  };
  const open: { name: string; parts: string[] }[] = [];
  let omitted = 0;
  let mboxFrom: string | null = null;
  let at = lines.findIndex((line) => line.trim() !== "");
  if (at < 0) at = lines.length;
  if (MBOX_FROM.test(lines[at] ?? "")) {
    mboxFrom = lines[at] ?? null;
    at += 1;
  }
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line === "") break;
    if (line.length > MAX_LINE) faults.long_line += 1;
    const current = open.at(-1);
    const isFolded = line.startsWith(" ") || line.startsWith("\t");
    // Lines after a left-out field belong to that field.
    if (isFolded && current !== undefined) {
      if (line.trim() === "") faults.blank_continuation += 1;
      if (omitted === 0) current.parts.push(line);
      continue;
    }
    // A date folded before its time loses its indentation when pasted. No field name is a number.
    const found = current !== undefined && CLOCK.test(line) ? null : readField(line.trimStart());
    if (found !== null) {
      if (found.spaced) faults.space_before_colon += 1;
      if (open.length < MAX_FIELDS) open.push({ name: found.name, parts: [found.value] });
      else omitted += 1;
    } else if (current === undefined) faults.stray_line += 1;
    else {
      faults.unindented_continuation += 1;
      if (omitted === 0) current.parts.push(` ${line}`);
    }
  }
  return {
    fields: open.map(({ name, parts }, index) => ({
      index,
      name,
      key: name.toLowerCase(),
      value: parts.join("").trim(),
    })),
    omitted,
    faults,
    lineEndings: endings,
    mboxFrom,
    hasBody: lines.slice(at).some((line) => line !== ""),
  };
}

function readField(line: string): { name: string; value: string; spaced: boolean } | null {
  const colon = line.indexOf(":");
  if (colon <= 0 || colon > MAX_NAME) return null;
  const written = line.slice(0, colon);
  const name = written.trimEnd();
  return FIELD_NAME.test(name) ? { name, value: line.slice(colon + 1), spaced: name !== written } : null;
}

/**
 * Splits a text at CRLF, LF and CR. Several CRs before an LF are one ending: text that was converted twice has them,
 * and as separate endings they would end a header block too early.
 */
function readLines(text: string): Lines {
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
