/** The general categories of Unicode that expressions can name (RFC 9485 section 3). */
const CATEGORIES: Readonly<Record<string, RegExp>> = {
  L: /\p{L}/u,
  Ll: /\p{Ll}/u,
  Lm: /\p{Lm}/u,
  Lo: /\p{Lo}/u,
  Lt: /\p{Lt}/u,
  Lu: /\p{Lu}/u,
  M: /\p{M}/u,
  Mc: /\p{Mc}/u,
  Me: /\p{Me}/u,
  Mn: /\p{Mn}/u,
  N: /\p{N}/u,
  Nd: /\p{Nd}/u,
  Nl: /\p{Nl}/u,
  No: /\p{No}/u,
  P: /\p{P}/u,
  Pc: /\p{Pc}/u,
  Pd: /\p{Pd}/u,
  Pe: /\p{Pe}/u,
  Pf: /\p{Pf}/u,
  Pi: /\p{Pi}/u,
  Po: /\p{Po}/u,
  Ps: /\p{Ps}/u,
  Z: /\p{Z}/u,
  Zl: /\p{Zl}/u,
  Zp: /\p{Zp}/u,
  Zs: /\p{Zs}/u,
  S: /\p{S}/u,
  Sc: /\p{Sc}/u,
  Sk: /\p{Sk}/u,
  Sm: /\p{Sm}/u,
  So: /\p{So}/u,
  C: /\p{C}/u,
  Cc: /\p{Cc}/u,
  Cf: /\p{Cf}/u,
  Cn: /\p{Cn}/u,
  Co: /\p{Co}/u,
};

/** Returns the test of a category by its name; null if there is no such category. */
export function categoryTest(name: string): ((character: string) => boolean) | null {
  const pattern = Object.hasOwn(CATEGORIES, name) ? CATEGORIES[name] : undefined;
  return pattern === undefined ? null : (character) => pattern.test(character);
}
