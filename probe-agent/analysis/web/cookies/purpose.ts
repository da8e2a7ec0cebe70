import { knownCookie, type CookiePurpose } from "#probe-agent/analysis/web/cookies/vendors.ts";

/** Characters of a name looked at. */
const MAX_NAME = 256;

/** The words frameworks and people build names from, first match wins. */
const PATTERNS: readonly (readonly [RegExp, CookiePurpose])[] = [
  [/csrf|xsrf|requestverificationtoken|authenticity_token/i, "csrf"],
  [/^(?:serverid$|srv(?:id)?$|route$|lb)/i, "lb"],
  [/sess|login|auth|(?:^|[._-])s?id(?:$|[._-])|^sid|remember|jwt|access_?token/i, "session"],
];

/** A cookie's purpose by its name: its maker's word where it is a known one, else a guess. "session" includes sign-in cookies. */
export function cookiePurpose(name: string): CookiePurpose {
  const seen = name.slice(0, MAX_NAME);
  return knownCookie(seen)?.purpose ?? PATTERNS.find(([pattern]) => pattern.test(seen))?.[1] ?? "unknown";
}
