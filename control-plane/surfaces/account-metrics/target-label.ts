/**
 * Returns the target of a monitor as a label: a URL without user, query and fragment, which can hold secrets that must
 * not reach every dashboard; other targets as they are.
 */
export function targetLabel(url: string): string {
  const typed = url.trim();
  // A URL can be stored without its scheme, as it was typed.
  if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed)) return typed.replace(/[?#].*$/s, "");
  const { origin, pathname } = new URL(typed);
  return `${origin}${pathname}`;
}
