import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { decodePage, pageCharset } from "#probe-agent/analysis/html/charset.ts";

/** A body, and a text that is searched in it. */
interface TextSearch {
  readonly octets: Uint8Array;
  /** Value of Content-Type; null if there is none. */
  readonly contentType: string | null;
  readonly text: string;
}

/** Reports whether a body contains a text, decoded by the body's charset. */
function containsText({ octets, contentType, text }: TextSearch): boolean {
  const charset = pageCharset(octets, contentType);
  if (charset.encoding === "utf-8") return containsUtf8(octets, text);
  return decodePage(octets, charset).includes(text);
}

/** Whether a body contains a text. */
export const containsTextAnalysis = defineAnalysis("contains-text", containsText);

/** Reports whether octets contain a text in UTF-8. */
export function containsUtf8(octets: Uint8Array, text: string): boolean {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).includes(text, 0, "utf8");
}
