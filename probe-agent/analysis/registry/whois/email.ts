const LOCAL = /[^\s@<>,;:()]/;
const DOMAIN = /[^\s@<>,;()]/;
const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;

/**
 * Returns the first email address in a text, as printed, or null if there is none. Examines each character at most
 * twice.
 */
export function findEmail(text: string): string | null {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    let start = at;
    while (at - start < MAX_LOCAL && LOCAL.test(text.charAt(start - 1))) start -= 1;
    let end = at + 1;
    while (end - at <= MAX_DOMAIN && DOMAIN.test(text.charAt(end))) end += 1;
    if (start < at && end > at + 1) return text.slice(start, end);
  }
  return null;
}
