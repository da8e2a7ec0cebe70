import { matches, parseLocations, type LocationItem, type Place } from "#shared/internet/locations.ts";

/** Where the agents of a location are attached: to this replica, only to others, or nowhere. */
export type Served = "here" | "elsewhere" | "nowhere";

/** The facts about an agent on which this depends. */
interface Attached extends Place {
  readonly online: boolean;
  readonly elsewhere: boolean;
}

/** Returns the items of a location, which was valid when it was stored; null if it cannot be read. */
export function readLocation(location: string): readonly LocationItem[] | null {
  const parsed = parseLocations([location]);
  return parsed.ok ? parsed.items : null;
}

/** Decides where a location of a monitor is served, from the agents that its account can use. */
export function whereServed(agents: readonly Attached[], items: readonly LocationItem[]): Served {
  let served: Served = "nowhere";
  for (const agent of agents) {
    if (!agent.online && !agent.elsewhere) continue;
    if (!items.every((item) => matches(agent, item))) continue;
    if (agent.online) return "here";
    served = "elsewhere";
  }
  return served;
}
