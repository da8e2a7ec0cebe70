import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/time/clock.ts";
import { completeUrl } from "#shared/internet/target-url.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { Location } from "#control-plane/checks/answer.ts";

/** A cached result. */
export interface CachedResult {
  readonly data: unknown;
  readonly location: Location;
}

/** Cache of recent results of tools whose contract allows it; in this process only. */
export interface ResultCache {
  /** `where` is a region, or "" for a call that named no location. */
  get(contract: Contract, params: Readonly<Record<string, unknown>>, where: string): CachedResult | undefined;
  set(contract: Contract, params: Readonly<Record<string, unknown>>, where: string, result: CachedResult): void;
}

/** Creates an LRU cache of at most 1,000 results. */
export function createResultCache(clock: Clock): ResultCache {
  const entries = new LRUCache<string, CachedResult>({ max: 1_000, perf: { now: () => clock.monotonic() } });
  return {
    get: (contract, params, where) =>
      contract.cacheMs === undefined ? undefined : entries.get(keyOf(contract, params, where)),
    set(contract, params, where, result) {
      if (contract.cacheMs !== undefined)
        entries.set(keyOf(contract, params, where), result, { ttl: contract.cacheMs });
    },
  };
}

function keyOf(contract: Contract, params: Readonly<Record<string, unknown>>, where: string): string {
  const normalised = Object.entries(params)
    .map(([name, value]) => [name, name === contract.target?.param ? normaliseTarget(contract, value) : value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([contract.name, where, normalised]);
}

/** Returns the same value for all spellings of a URL; the fragment is removed, because it is not sent to the server. */
export function normaliseTarget(contract: Contract, value: unknown): unknown {
  if (contract.target?.kind !== "url" || typeof value !== "string") return value;
  const url = URL.parse(completeUrl(value) ?? value);
  if (url === null) return value;
  url.hash = "";
  return url.href;
}
