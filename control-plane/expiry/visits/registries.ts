import type { Clock } from "#shared/clock.ts";

/** Which registries this replica does not ask for a while, because they said that they are asked too often. */
export interface Registries {
  /** Returns the registries that are not asked now, as top-level domains. */
  closed(): readonly string[];
  /** Notes the answer of a registry. */
  readonly note: (registry: string, isLimited: boolean) => void;
}

interface Pause {
  readonly until: number;
  readonly ms: number;
}

const SHORTEST_MS = 15 * 60_000;
const LONGEST_MS = 6 * 3_600_000;

/** Creates the memory of one replica. */
export function createRegistries(clock: Pick<Clock, "now">): Registries {
  const pauses = new Map<string, Pause>();
  return {
    closed() {
      const now = clock.now().getTime();
      return [...pauses].filter(([, { until }]) => until > now).map(([registry]) => registry);
    },
    note(registry, isLimited) {
      const known = pauses.get(registry);
      if (!isLimited) {
        pauses.delete(registry);
        return;
      }
      const ms = known === undefined ? SHORTEST_MS : Math.min(LONGEST_MS, known.ms * 2);
      pauses.set(registry, { until: clock.now().getTime() + ms, ms });
    },
  };
}
