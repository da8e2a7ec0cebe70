import { waitAtMost } from "#shared/time-limit.ts";
import type { SeenName } from "#probe-agent/analysis/registry/seen-names.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { resolvesTo } from "#probe-agent/sources/reverse-name.ts";

/** A name with what its look-up said; null: not looked up, or no answer. */
export type VerifiedName = SeenName & { readonly still_resolves: boolean | null };

/** Names looked up, and how many at once. */
const MOST_LOOKUPS = 120;
const AT_ONCE = 12;

/** Looks the first names up again, within `patienceMs` for all of them together; wildcards lead nowhere by themselves. */
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
