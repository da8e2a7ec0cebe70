import { isUtf8 } from "node:buffer";
import { printable } from "#probe-agent/analysis/text/printable.ts";

/** Maximum length of a server's words in a message, in characters. */
const MOST_SHOWN = 120;
/** Maximum number of octets that are decoded for them. */
const MOST_DECODED = 4 * MOST_SHOWN;

/** Returns the octets of a text in UTF-8, and in Latin-1 if it has them. */
export function octetForms(text: string): readonly Buffer[] {
  const utf8 = Buffer.from(text);
  const latin1 = Buffer.from(text, "latin1");
  return latin1.equals(utf8) || latin1.toString("latin1") !== text ? [utf8] : [utf8, latin1];
}

/** Decodes octets as UTF-8 if they are valid UTF-8, else as Latin-1. */
export function decodeText(octets: Buffer): string {
  return octets.toString(isUtf8(octets) ? "utf8" : "latin1");
}

/** Quotes a server's or a user's words for a message, cut and printable. */
export function quoted(words: string | Buffer): string {
  const text = typeof words === "string" ? words : decodeText(words.subarray(0, MOST_DECODED));
  return JSON.stringify(printable(text.trim(), MOST_SHOWN));
}
