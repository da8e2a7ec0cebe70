import { knownCookie, type CookiePurpose } from "#probe-agent/tools/cookie/vendors.ts";

/** Maximum number of characters of a name that are examined. */
const MAX_NAME = 256;

/** Words that frameworks and developers use in names of cookies. The first match wins. */
const PATTERNS: readonly (readonly [RegExp, CookiePurpose])[] = [
  [/csrf|xsrf|requestverificationtoken|authenticity_token/i, "csrf"],
  [/^(?:serverid$|srv(?:id)?$|route$|lb)/i, "lb"],
  [/sess|login|auth|(?:^|[._-])s?id(?:$|[._-])|^sid|remember|jwt|access_?token/i, "session"],
];

/** Returns a cookie's purpose: documented for known names, else guessed from the name. "session" includes sign-in. */
export function cookiePurpose(name: string): CookiePurpose {
  const seen = name.slice(0, MAX_NAME);
  return knownCookie(seen)?.purpose ?? PATTERNS.find(([pattern]) => pattern.test(seen))?.[1] ?? "unknown";
}
