/**
 * Maximum number of characters of an unprocessed answer. At three octets each, they are far below the limit of a
 * result.
 */
const MAX_CHARACTERS = 32_768;

/** Cuts a text and removes control characters except line ends and tabs, which could disturb a terminal. */
export function cutText(text: string): { readonly text: string; readonly truncated: boolean } {
  const clean = text
    .slice(0, MAX_CHARACTERS)
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "")
    .toWellFormed();
  return { text: clean, truncated: text.length > MAX_CHARACTERS };
}
