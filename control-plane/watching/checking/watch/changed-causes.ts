import { isSameCause } from "#control-plane/outages/incidents/cause/describe.ts";
import type { MonitorTarget } from "#control-plane/outages/incidents/incident.ts";
import type { FailingLocation } from "#control-plane/outages/state/events.ts";
import { failingLocations } from "#control-plane/outages/state/locations.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

/**
 * Lists the failing locations of a monitor that stays down if one of them fails for another reason than before; an empty
 * list if none does. What each check measures anew is no other reason.
 */
export function findChangedCauses(
  monitor: MonitorTarget,
  before: MonitorState,
  { status, locations, sole }: MonitorState,
): readonly FailingLocation[] {
  if (before.status !== "down" || status !== "down" || before.locations === locations) return [];
  const isChanged = Array.from(locations).some(([location, { verdict, fault }]) => {
    const old = before.locations.get(location);
    return verdict === "down" && old?.verdict === "down" && !isSameCause(monitor, old.fault, fault);
  });
  if (!isChanged) return [];
  return failingLocations(
    Array.from(locations, ([location, known]) => ({ location, known })),
    sole,
  );
}
