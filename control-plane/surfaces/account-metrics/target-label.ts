/**
 * Returns the target of a monitor as a label: a URL without user, query and fragment, which can hold secrets that must
 * not reach every dashboard; other targets as they are.
 */
export function targetLabel(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
