import type { Net } from "#probe-agent/toolkit/net.ts";

// Resolvers give up sooner (unbound at 12).
const MAX_LINKS = 16;
const WALK_MS = 2_000;
// Left for the result itself.
const MARGIN_MS = 300;

/**
 * Why a resolver fails that hides it: aliases that lead in a circle are SERVFAIL to most, but each of them alone may be
 * had. The circle from the name back to one passed; null where there is none or it could not be seen within 2 s.
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
