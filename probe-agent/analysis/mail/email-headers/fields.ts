import { readLines, type LineEndings } from "#probe-agent/analysis/mail/email-headers/lines.ts";

/** One header field. */
export interface Field {
  /** Place from the top, 0 = first. */
  readonly index: number;
  /** As written. */
  readonly name: string;
  /** Lower case. */
  readonly key: string;
  /** Unfolded (RFC 5322 section 2.2.3), white space at both ends removed; encoded words are not decoded. */
  readonly value: string;
}

/** Breaches of RFC 5322 that are read over, each with how often. */
interface BlockFaults {
  /** White space before the colon (section 4.5, obsolete). */
  readonly space_before_colon: number;
  /** Lines of white space alone inside a field (section 4.2, obsolete). */
  readonly blank_continuation: number;
  /** Lines that are neither a field nor indented; taken as a continuation of the field above. */
  readonly unindented_continuation: number;
  /** Such lines before the first field; ignored. */
  readonly stray_line: number;
  /** Lines of more than 998 characters (section 2.1.1). */
  readonly long_line: number;
}

/** A header block taken apart. */
export interface HeaderBlock {
  /** Top to bottom, at most MAX_FIELDS. */
  readonly fields: readonly Field[];
  /** Fields beyond that. */
  readonly omitted: number;
  readonly faults: BlockFaults;
  readonly lineEndings: LineEndings;
  /** The "From " line mbox files put before a message (RFC 4155), null without one. */
  readonly mboxFrom: string | null;
  /** An empty line was there, with something after it. */
  readonly hasBody: boolean;
}

/** Fields looked at; real messages have fewer than 200. */
export const MAX_FIELDS = 5000;
const MAX_LINE = 998;
/** A longer name is nobody's field. */
const MAX_NAME = 256;
// ftext of RFC 5322 section 3.6.8: printable ASCII but the colon.
const FIELD_NAME = /^[!-9;-~]+$/;
const CLOCK = /^\d{1,2}:\d{2}\b/;
// Not the obsolete "From : ...".
const MBOX_FROM = /^>?From (?! *:)/;

/**
 * Takes a header block apart as mail software does: folded lines are joined, CRLF, LF and CR all end a line, obsolete
 * forms count, an empty line ends the block. Never fails; each line is looked at once.
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
    // What follows a dropped field belongs to it.
    if (isFolded && current !== undefined) {
      if (line.trim() === "") faults.blank_continuation += 1;
      if (omitted === 0) current.parts.push(line);
      continue;
    }
    // A date folded before its time, pasted without the indent: nobody's field has a number for a name.
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
