/** What a cookie is for, as far as its name tells. */
export type CookiePurpose = "session" | "csrf" | "analytics" | "ads" | "load_balancing" | "unknown";

/** Name patterns, first match wins: documented names of products and the words frameworks build theirs from. */
const PATTERNS: readonly (readonly [RegExp, CookiePurpose])[] = [
  [/csrf|xsrf|requestverificationtoken|authenticity_token/i, "csrf"],
  [
    /^(?:_ga(?:_|$)|_gid$|_gat|__utm|_pk_|_hj|_clck$|_clsk$|mp_|amplitude|ajs_|_mkto_trk$|optimizely|_vwo)/i,
    "analytics",
  ],
  [/^(?:_fbp$|_fbc$|_gcl_|ide$|test_cookie$|_uet|muid$|_scid|_ttp$|__gads$|__gpi$|li_|bcookie$|_pin_unauth$)/i, "ads"],
  [
    /^(?:awsalb|awselb|arraffinity|bigipserver|serverid$|srv(?:id)?$|route$|heroku-session-affinity$|lb)/i,
    "load_balancing",
  ],
  [/sess|login|auth|(?:^|[._-])s?id(?:$|[._-])|^sid|remember|jwt|access_?token|connect\.sid/i, "session"],
];

/** Guesses a cookie's purpose from its name. "session" includes sign-in cookies. */
export function cookiePurpose(name: string): CookiePurpose {
  return PATTERNS.find(([pattern]) => pattern.test(name))?.[1] ?? "unknown";
}
