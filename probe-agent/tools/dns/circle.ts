import type { Net } from "#probe-agent/toolkit/net.ts";

// Resolvers give up earlier (unbound at 12).
const MAX_LINKS = 16;
const WALK_MS = 2_000;
// Kept for the result itself, in milliseconds.
const MARGIN_MS = 300;

/**
 * Looks for a circle of aliases that a resolver hides behind a failure: most resolvers answer SERVFAIL to such a
 * circle, but return each alias alone. Returns the names from the first one back to one already passed. Null if there
 * is no circle, or if it was not found within 2 s.
 */
export async function findCircle(net: Net, name: string): Promise<readonly string[] | null> {
  const until = net.monotonic() + Math.min(WALK_MS, net.remainingMs() - MARGIN_MS);
  const passed: string[] = [];
  let at = name.replace(/\.$/, "").toLowerCase();
  while (!passed.includes(at)) {
    passed.push(at);
    const timeoutMs = until - net.monotonic();
    if (timeoutMs <= 0 || passed.length > MAX_LINKS) return null;
    const { answers } = await net.dns.query({ name: at, type: "CNAME", timeoutMs });
    const alias = answers.find((record) => record.type === "CNAME" && record.name.toLowerCase() === at);
    const target = alias?.typed["cname"];
    if (typeof target !== "string") return null;
    at = target.toLowerCase();
  }
  return [...passed, at];
}
