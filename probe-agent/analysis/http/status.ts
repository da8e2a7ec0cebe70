/** Statuses that request a redirect to their Location (Fetch standard, "redirect status"). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Sign-in required, client not accepted, rate limit. */
const PERHAPS_OURS: ReadonlySet<number> = new Set([401, 403, 407, 429]);

/** Reports whether the status requests a redirect. */
export function isRedirectStatus(code: number): boolean {
  return REDIRECTS.has(code);
}

/** Reports whether an error with this status may concern only this probe, not visitors. */
export function mayConcernOnlyProbe(code: number): boolean {
  return PERHAPS_OURS.has(code);
}
