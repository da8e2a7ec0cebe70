/** Characters of an answer shown as it came: at three octets each far below what a result may have. */
const MAX_CHARACTERS = 32_768;

/** Line ends and tabs stay; other control characters would only disturb who prints it. */
export function cutText(text: string): { readonly text: string; readonly truncated: boolean } {
  const clean = text
    .slice(0, MAX_CHARACTERS)
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "")
    .toWellFormed();
  return { text: clean, truncated: text.length > MAX_CHARACTERS };
}
