import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";

/** Content of an llms.txt file as proposed by llmstxt.org: an H1, a quoted summary and H2 sections of links. */
export interface LlmsTxt {
  /** true if the file has a title and there are no errors, such as list items that are not links. */
  readonly valid: boolean;
  readonly title: string | null;
  readonly summary: string | null;
  readonly sections: readonly { readonly name: string; readonly links: number }[];
  /** Number of links in all sections. */
  readonly links: number;
  /** Errors as clauses that name the line. Up to 20, plus one for a missing title. */
  readonly errors: readonly string[];
}

const MAX_LINES = 20_000;
const MAX_SECTIONS = 100;
const MAX_ERRORS = 20;
const MAX_TEXT = 500;
const FENCE = /^(?:```|~~~)/;

// Limits in characters.
const BULLET = /^[-*+][ \t]+\[/;
const MAX_LABEL = 500;
const MAX_DESTINATION = 2_048;
const MAX_INNER = 200;
const MAX_LINE = 8_000;

interface Paired {
  readonly pair: "[]" | "()";
  /** Maximum number of characters and inner pairs. The minimum is one. */
  readonly most: number;
  readonly allows: (character: string) => boolean;
}

/** Parses an llms.txt file. Skips a byte order mark. Never throws. */
export function parseLlmsTxt(text: string): LlmsTxt {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/, MAX_LINES);
  const errors: string[] = [];
  const sections: { name: string; links: number }[] = [];
  let title: string | null = null;
  let summary: string | null = null;
  const addError = (line: number, what: string): void => {
    if (errors.length < MAX_ERRORS) errors.push(`line ${line + 1} is ${what}`);
  };
  let fence: string | null = null;
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    // A "#" line in a code block is a comment, not a title.
    const mark: string | null = FENCE.exec(line)?.[0] ?? null;
    if (mark !== null && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    if (mark !== null || fence !== null) continue;
    const section = sections.at(-1);
    if (line.startsWith("# ")) {
      if (title !== null) addError(index, "a second title");
      else if (sections.length > 0) addError(index, "a title after the first section");
      title ??= line.slice(2).trim().slice(0, MAX_TEXT);
    } else if (line.startsWith("## ")) {
      if (title === null) addError(index, "a section before the title");
      if (sections.length < MAX_SECTIONS) sections.push({ name: line.slice(3).trim().slice(0, MAX_TEXT), links: 0 });
    } else if (line.startsWith(">") && section === undefined) summary ??= line.slice(1).trim().slice(0, MAX_TEXT);
    else if (section !== undefined && /^[-*+][ \t]/.test(line)) {
      if (isLinkItem(line)) section.links += 1;
      else addError(index, "not a link of the form - [name](url): notes");
    }
  }
  if (title === null) errors.unshift("it has no title (a first line such as # Name)");
  const links = sections.reduce((sum, section) => sum + section.links, 0);
  return { valid: title !== null && errors.length === 0, title, summary, sections, links, errors };
}

/** An llms.txt. */
export const llmsTxtAnalysis = defineAnalysis("llms-txt", parseLlmsTxt);

/**
 * Reports whether a line is a list item of the form `- [name](url)`, with or without notes after a colon or a space.
 * The name can contain brackets and the URL parentheses, if they are in pairs (CommonMark, links). A URL in `<>` can
 * contain spaces. Each character is read once.
 */
export function isLinkItem(text: string): boolean {
  const line = text.slice(0, MAX_LINE);
  const start = BULLET.exec(line)?.[0].length;
  if (start === undefined) return false;
  const label = endOfPaired(line, start, { pair: "[]", most: MAX_LABEL, allows: () => true });
  if (label === -1 || line.charAt(label + 1) !== "(") return false;
  const destination = endOfDestination(line, label + 2);
  return destination !== -1 && /^(?:$|:?[ \t])/.test(line.slice(destination + 1));
}

/** Returns the index of the ")" that ends a URL starting at `start`, or -1 if there is no URL. */
function endOfDestination(line: string, start: number): number {
  if (line.charAt(start) !== "<") {
    return endOfPaired(line, start, {
      pair: "()",
      most: MAX_DESTINATION,
      allows: (character) => character !== "<" && character !== ">" && character.trim() !== "",
    });
  }
  const inner = line.slice(start + 1).search(/[<>]/);
  const close = start + 1 + inner;
  const valid = inner > 0 && inner <= MAX_DESTINATION && line.startsWith(">)", close);
  return valid ? close + 1 : -1;
}

/**
 * Returns the index of the closing bracket for the text that starts at `start`, or -1 if it is not closed. Skips one level
 * of inner pairs.
 */
function endOfPaired(line: string, start: number, { pair, most, allows }: Paired): number {
  const [open, close] = pair;
  let units = 0;
  let inside = -1;
  for (let at = start; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (inside !== -1) {
      if (character === close) inside = -1;
      else if (character === open || !allows(character) || at - inside > MAX_INNER) return -1;
    } else if (character === close) return units > 0 ? at : -1;
    else if (!allows(character) || units >= most) return -1;
    else {
      if (character === open) inside = at;
      units += 1;
    }
  }
  return -1;
}
