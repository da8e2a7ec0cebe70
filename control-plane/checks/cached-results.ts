import type { CachedResult } from "#control-plane/checks/cache.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import type { PlaceChoice } from "#control-plane/checks/places.ts";

/** Results that are at hand trouble no target. */
export function isAllCached(app: CheckContext, request: CheckRequest, choices: readonly PlaceChoice[]): boolean {
  return request.contract.cacheMs !== undefined && choices.every((choice) => cachedAt(app, request, choice));
}

/** What a shared probe of the place found a moment ago. A private probe may stand in another network: it is asked. */
export function cachedAt(
  app: CheckContext,
  { contract, params }: CheckRequest,
  { place }: PlaceChoice,
): CachedResult | undefined {
  return isShared(app, place.probe_id) ? app.results.get(contract, params, place.region) : undefined;
}

/** Whether the operator runs the probe, not an account: what an account's own says is for that account alone. */
export function isShared({ hub }: CheckContext, agentId: string): boolean {
  return hub.roster.session(agentId)?.enrolled.accountId === null;
}
