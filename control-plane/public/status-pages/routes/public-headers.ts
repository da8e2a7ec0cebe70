import type { PageView } from "#control-plane/public/status-pages/page.ts";

/**
 * Headers of all forms but the page: scripts of other sites can read them, and pages that isolate themselves from other
 * origins (Cross-Origin-Embedder-Policy) can show the badge too.
 */
export const READABLE = {
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
} as const;

/** Maximum age of public answers, in seconds. The views behind them are dropped as soon as a monitor changes. */
const MOST_SECONDS = 10;

/** Cache-Control of answers for everybody. */
export const PUBLIC_CACHE = `public, max-age=${MOST_SECONDS}`;

/** Cache-Control of answers to requests with a key for a page that is not public. */
export const PRIVATE_CACHE = `private, max-age=${MOST_SECONDS}`;

/** Cache-Control of other answers to requests with a key or of a member, which can be of a page that is not public. */
export const OWN_CACHE = "private, no-store";

/** Cache-Control of files whose address has the hash of their content, so that it is of one content for ever. */
export const HASHED_CACHE = "public, max-age=31536000, immutable";

/**
 * Returns the Age of a view, in whole seconds: caches subtract it from max-age, so that their copies of a view that is
 * some seconds old already are not older than others. Rounded up: a copy is never used for too long.
 */
export function ageOf({ generatedAt }: Pick<PageView, "generatedAt">, now: Date): Readonly<Record<"age", string>> {
  const seconds = Math.ceil((now.getTime() - generatedAt.getTime()) / 1_000);
  return { age: String(Math.min(Math.max(seconds, 0), MOST_SECONDS)) };
}
