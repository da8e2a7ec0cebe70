import { domainToUnicode } from "node:url";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";

/** Compares two domains for DMARC alignment (RFC 7489 section 3.1). Null if one of them is unknown. */
export function alignmentOf(one: string | null, other: string | null): { strict: boolean; relaxed: boolean } | null {
  if (one === null || other === null) return null;
  const strict = one.toLowerCase() === other.toLowerCase();
  const organisation = registrableDomain(one);
  return { strict, relaxed: strict || (organisation !== null && organisation === registrableDomain(other)) };
}

/** Ways in which a name can look like another name. */
export type Disguise = "mixed_scripts" | "latin_look_alikes" | "invisible_characters";

const SCRIPT_PATTERNS: readonly (readonly [string, RegExp])[] = [
  ["Latin", /\p{Script=Latin}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
  ["Hebrew", /\p{Script=Hebrew}/u],
  ["Arabic", /\p{Script=Arabic}/u],
  ["Devanagari", /\p{Script=Devanagari}/u],
  ["Thai", /\p{Script=Thai}/u],
  ["Georgian", /\p{Script=Georgian}/u],
  ["Han", /\p{Script=Han}/u],
  ["Hiragana", /\p{Script=Hiragana}/u],
  ["Katakana", /\p{Script=Katakana}/u],
  ["Bopomofo", /\p{Script=Bopomofo}/u],
  ["Hangul", /\p{Script=Hangul}/u],
];
/** Scripts that are legitimately mixed (UTS 39 section 5.2, "highly restrictive"). */
const TOGETHER: readonly ReadonlySet<string>[] = [
  new Set(["Latin", "Han", "Hiragana", "Katakana"]),
  new Set(["Latin", "Han", "Bopomofo"]),
  new Set(["Latin", "Han", "Hangul"]),
];
/** Cyrillic letters that look like Latin letters in lower case (UTS 39, confusables). */
const LATIN_LOOK_ALIKES = /^[асеорхуѕіјһԁԛԝӏ0-9-]+$/u;
/**
 * Default-ignorable and bidirectional controls: U+00AD, U+200B to U+200F, U+202A to U+202E, U+2060 to U+2069, U+FEFF.
 */
export const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/u;

/**
 * Finds how a domain imitates another domain. Null for ordinary domains. A-labels are checked in their Unicode form.
 */
export function findDisguise(domain: string): Disguise | null {
  if (INVISIBLE.test(domain)) return "invisible_characters";
  const shown = domain.length <= 253 && domain.includes("xn--") ? domainToUnicode(domain) || domain : domain;
  for (const label of shown.slice(0, 253).split(".")) {
    const scripts = SCRIPT_PATTERNS.flatMap(([script, pattern]) => (pattern.test(label) ? [script] : []));
    const fits = scripts.length < 2 || TOGETHER.some((set) => scripts.every((script) => set.has(script)));
    if (!fits) return "mixed_scripts";
    const alike = scripts[0] === "Cyrillic" && LATIN_LOOK_ALIKES.test(label);
    if (alike) return "latin_look_alikes";
  }
  return null;
}
