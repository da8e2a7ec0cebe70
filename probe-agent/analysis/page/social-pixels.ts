/** Parses a width or height as pages declare it, such as "1200" or "1200px". Returns null for any other text. */
export function parsePixels(text: string | null): number | null {
  const match = /^(\d{1,6})(?:px)?$/i.exec(text ?? "");
  return match === null ? null : Number(match[1]);
}
