import type { CachedResult } from "#control-plane/checks/cache.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import type { PlaceChoice } from "#control-plane/checks/places.ts";

/** Reports whether all results of a call are cached, so that it does not load the target. */
export function isAllCached(app: CheckContext, request: CheckRequest, choices: readonly PlaceChoice[]): boolean {
  return request.contract.cacheMs !== undefined && choices.every((choice) => cachedAt(app, request, choice));
}

/** Returns the cached result at the place of a shared probe. A private probe can be in another network: no cache. */
export function cachedAt(
  app: CheckContext,
  { contract, params }: CheckRequest,
  { place }: PlaceChoice,
): CachedResult | undefined {
  return isShared(app, place.probe_id) ? app.results.get(contract, params, place.region) : undefined;
}

/** Reports whether the operator runs the probe. Results of an account's private probe are only for that account. */
export function isShared({ hub }: CheckContext, agentId: string): boolean {
  return hub.roster.session(agentId)?.enrolled.accountId === null;
}
