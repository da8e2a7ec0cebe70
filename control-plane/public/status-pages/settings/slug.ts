import { refuse, type Read } from "#shared/schema/problem.ts";

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

/** Reads the slug of a page. */
export function readSlug(given: string): Read<string> {
  if (!isSlug(given)) {
    const message = `must have ${LEAST_SLUG} to ${MOST_SLUG} of the characters a-z 0-9 -, without - at either end`;
    return refuse("slug", "type", message);
  }
  if (RESERVED.has(given)) return refuse("slug", "enum", "is reserved for the service; choose another one");
  return { ok: true, value: given };
}
