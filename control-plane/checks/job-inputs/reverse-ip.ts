import type { InputGatherer } from "#control-plane/checks/context.ts";
import type { Observations } from "#control-plane/checks/observations.ts";

/**
 * Returns a gatherer of the names that earlier results showed at the address of a reverse-ip call, with ISO 8601 times.
 */
export function gatherObservations(observations: Pick<Observations, "at">): InputGatherer {
  return async ({ params, accountId }) => {
    // Without the database the answer only lacks one of its sources.
    const names = await observations.at(String(params["ip"]), accountId).catch(() => []);
    return {
      observations: names.map(({ host, firstSeen, lastSeen }) => {
        return { host, first_seen: firstSeen.toISOString(), last_seen: lastSeen.toISOString() };
      }),
    };
  };
}
