import { isUtf8 } from "node:buffer";
import type { Redact } from "#shared/text/redact.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

/** Maximum length of a server's words in a message, in characters. */
const MOST_SHOWN = 120;

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

/** Quotes words for a message, cut and printable. `redact`: that of the connection for a server's words. */
export function quoted(words: string | Buffer, redact: Redact): string {
  const text = redact(typeof words === "string" ? words : decodeText(words));
  return JSON.stringify(printable(text.trim(), MOST_SHOWN));
}
