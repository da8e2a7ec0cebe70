import type { FieldProblem } from "#shared/schema/problem.ts";

/** Minimum number of characters of a slug. */
export const LEAST_SLUG = 3;
/** Maximum number of characters of a slug. */
export const MOST_SLUG = 60;

const SLUG = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Words that the service uses in addresses, or that visitors take for the service itself. */
const RESERVED: ReadonlySet<string> = new Set([
  "about",
  "account",
  "accounts",
  "admin",
  "api",
  "app",
  "assets",
  "auth",
  "badge",
  "blog",
  "dashboard",
  "docs",
  "feed",
  "health",
  "healthz",
  "heartbeat",
  "help",
  "login",
  "logout",
  "mail",
  "mcp",
  "metrics",
  "new",
  "operator",
  "readyz",
  "root",
  "security",
  "signin",
  "signup",
  "static",
  "status",
  "subscribe",
  "support",
  "system",
  "unsubscribe",
  "vantage",
  "www",
]);

/** Reports whether a text has the form of a slug. */
export function isSlug(text: string): boolean {
  return text.length >= LEAST_SLUG && text.length <= MOST_SLUG && SLUG.test(text);
}

/** Returns why a text cannot be the slug of a page; null if it can. */
export function slugProblem(slug: string): FieldProblem | null {
  if (!isSlug(slug)) {
    const message = `must have ${LEAST_SLUG} to ${MOST_SLUG} of the characters a-z 0-9 -, without - at either end`;
    return { field: "slug", reason: "type", message };
  }
  return RESERVED.has(slug)
    ? { field: "slug", reason: "enum", message: "is reserved for the service; choose another one" }
    : null;
}
