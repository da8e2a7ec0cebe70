import { matches } from "#shared/locations.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { decideTarget } from "#control-plane/checks/target.ts";
import type { ExpiringTarget } from "#control-plane/kinds/expiring.ts";
import { contractOf } from "#control-plane/kinds/kinds.ts";
import { readLocation } from "#control-plane/checking/watch/served.ts";

/** Monitors whose targets any shared probe can look at. */
const SHARED = 0;

/**
 * Decides who can look at the target of a monitor: any shared probe (0), or only the private probes of its account. A
 * monitor that only private probes check can have a target that others see differently.
 */
export function scopeOf(
  { hub }: Pick<CheckContext, "hub">,
  { accountId, locations }: { readonly accountId: number; readonly locations: readonly string[] },
  { kind, host }: ExpiringTarget,
): number {
  if (kind === "domain") return SHARED;
  const { sharedRules, list } = hub.roster.candidates(accountId);
  const contract = contractOf("ssl");
  if (!decideTarget(contract, { host }, sharedRules).ok) return accountId;
  const servedBy = locations.flatMap((location) => {
    const items = readLocation(location) ?? [];
    return list.filter((candidate) => items.some((item) => item.kind !== "remove" && matches(candidate, item)));
  });
  const isPrivate = servedBy.length > 0 && servedBy.every((candidate) => candidate.accountId !== null);
  return isPrivate ? accountId : SHARED;
}
