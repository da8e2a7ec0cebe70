/** Control, format and separator characters. Joiners are kept, because words of some scripts need them. */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Zs}]/gu;
/** Code units that are read for each character of the result. */
const READ_PER_CHARACTER = 8;

/**
 * Returns untrusted text as one line, for mails, logs and stored rows: without line breaks, control characters, half
 * surrogate pairs and characters that change the direction of text. At most `most` characters; longer text ends with an
 * ellipsis.
 */
export function toPlainLine(text: string, most: number): string {
  const head = text.slice(0, most * READ_PER_CHARACTER).toWellFormed();
  const words = head.replaceAll(UNPRINTABLE, " ").split(" ");
  const line = words.filter((word) => word !== "").join(" ");
  const characters = Array.from(line);
  const isCut = characters.length > most || head.length < text.length;
  return isCut
    ? `${characters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`
    : line;
}

/** Cuts a line to at most `max` UTF-16 code units, the ellipsis included. Never splits a surrogate pair. */
export function cutLine(line: string, max: number): string {
  if (line.length <= max) return line;
  const kept = line.slice(0, max - 1);
  return `${(kept.isWellFormed() ? kept : kept.slice(0, -1)).trimEnd()}…`;
}

/** Replaces each run of control characters by a space: the text can then neither break a line nor control a terminal. */
export function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ");
}
