/** Well-formed by BCP 47: what ECMA-402 reads, and private-use tags. */
export function isLanguageTag(tag: string): boolean {
  if (/^x(?:-[a-z0-9]{1,8}){1,20}$/i.test(tag)) return true;
  try {
    return Intl.getCanonicalLocales(tag.slice(0, 200)).length === 1;
  } catch {
    return false;
  }
}
