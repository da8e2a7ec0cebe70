/** Reports whether a tag is well-formed (BCP 47): ECMA-402 accepts it, or it is a private-use tag. */
export function isLanguageTag(tag: string): boolean {
  if (/^x(?:-[a-z0-9]{1,8}){1,20}$/i.test(tag)) return true;
  try {
    return Intl.getCanonicalLocales(tag.slice(0, 200)).length === 1;
  } catch {
    return false;
  }
}
