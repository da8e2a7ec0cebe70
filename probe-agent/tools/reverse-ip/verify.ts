import { waitAtMost } from "#shared/time-limit.ts";
import type { SeenName } from "#probe-agent/analysis/registry/seen-names.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { resolvesTo } from "#probe-agent/sources/reverse-name.ts";

/** A name with the result of its lookup. Null if it was not looked up or the lookup failed. */
export type VerifiedName = SeenName & { readonly still_resolves: boolean | null };

/** Maximum number of names looked up, and of lookups at the same time. */
const MOST_LOOKUPS = 120;
const AT_ONCE = 12;

/**
 * Looks up the first names again, within `patienceMs` milliseconds for all of them together. Wildcards are skipped,
 * because they do not resolve by themselves.
 */
export async function verifyNames(
  net: Net,
  names: readonly SeenName[],
  ip: string,
  patienceMs: number,
): Promise<{ readonly names: readonly VerifiedName[]; readonly skipped: number }> {
  const candidates = names.filter(({ domain }) => !domain.startsWith("*."));
  const queue = candidates.slice(0, MOST_LOOKUPS).map(({ domain }) => domain);
  const verdicts = new Map<string, boolean | null>();
  const endsAt = net.monotonic() + patienceMs;
  const work = async (): Promise<void> => {
    for (let domain = queue.shift(); domain !== undefined; domain = queue.shift()) {
      const left = endsAt - net.monotonic();
      if (left <= 0) return;
      verdicts.set(domain, await waitAtMost(left, resolvesTo(net, domain, ip), null));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return {
    names: names.map((name) => ({ ...name, still_resolves: verdicts.get(name.domain) ?? null })),
    skipped: candidates.length - verdicts.size,
  };
}
