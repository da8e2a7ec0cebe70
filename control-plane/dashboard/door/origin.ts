/** Where a sign-in leads, as given by `next`: a path of the dashboard only, never another site. Pure. */
export function nextPath(given: unknown): string {
  return typeof given === "string" && given.length <= 2_000 && /^\/app\/[!-[\]-~]*$/.test(given) ? given : "/app/";
}
