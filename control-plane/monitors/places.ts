import { continentOf } from "#shared/internet/continents.ts";
import { matches } from "#shared/internet/locations.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { unknownLocation } from "#control-plane/checks/unknown-location.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import { kindOf, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";
import { readLocationItem } from "#control-plane/monitors/settings/location-items.ts";

/** Maximum number of locations of a monitor whose user names none. */
const MOST_DEFAULT = 3;
/** Maximum number of regions in a message. */
const MOST_NAMED = 30;

/** Checks that each of these locations matches a known probe, online or not. */
export function vetLocations(locations: readonly string[], candidates: readonly Candidate[]): Written<null> {
  for (const text of locations) {
    const item = readLocationItem(text);
    if (typeof item === "string") {
      return refuseProblem({ field: "locations", reason: "unknown_location", message: item });
    }
    if (!candidates.some((candidate) => matches(candidate, item))) {
      return refuseProblem(unknownLocation(item, candidates));
    }
  }
  return { ok: true, value: null };
}

/** Returns the probes that can check monitors of a type; null: all can. */
function equippedFor(checkType: CheckType, candidates: readonly Candidate[]): readonly Candidate[] | null {
  const capability = kindOf(checkType).probe?.capability ?? null;
  return capability === null ? null : candidates.filter(({ capabilities }) => capabilities.has(capability));
}

/** Checks that probes at these locations can check monitors of a type: pictures need a browser. */
export function vetEquipment(
  checkType: CheckType,
  locations: readonly string[],
  candidates: readonly Candidate[],
): Written<null> {
  const equipped = equippedFor(checkType, candidates);
  if (equipped === null) return { ok: true, value: null };
  if (equipped.length === 0) {
    const message = "visual needs a probe with a browser (Chromium), and no probe that you can use has one";
    return refuseProblem({ field: "check_type", reason: "enum", message });
  }
  for (const text of locations) {
    const item = readLocationItem(text);
    if (typeof item === "string" || equipped.some((candidate) => matches(candidate, item))) continue;
    const regions = [...new Set(equipped.map(({ region }) => region))].toSorted().slice(0, MOST_NAMED).join(", ");
    const message = `no probe at ${text} has a browser, which takes the pictures; regions with one: ${regions}`;
    return refuseProblem({ field: "locations", reason: "unknown_location", message });
  }
  return { ok: true, value: null };
}

/**
 * Chooses locations for a monitor whose user names none: regions with an online probe that can check the target, on as
 * many continents and in as many countries as possible, then the least loaded. Private probes are chosen only if there
 * is no shared one.
 */
export function chooseLocations(
  checkType: CheckType,
  candidates: readonly Candidate[],
  most: number,
  allows: (egress: Egress) => boolean,
): Written<readonly string[]> {
  const equipment = vetEquipment(checkType, [], candidates);
  if (!equipment.ok) return equipment;
  const able = equippedFor(checkType, candidates) ?? candidates;
  const online = able.filter(({ online: here, elsewhere, egress }) => (here || elsewhere) && allows(egress));
  const shared = online.filter(({ accountId }) => accountId === null);
  const chosen = spreadRegions(
    shared.length > 0 ? shared : online,
    kindOf(checkType).locations === "one" ? 1 : Math.min(most, MOST_DEFAULT),
  );
  if (chosen.length > 0) return { ok: true, value: chosen };
  const message =
    "No probe is online that could check this target, so no locations can be chosen. Name the locations, or repeat " +
    "the request when a probe is online.";
  return refuseWrite({ code: "probe_unavailable", reason: "no_probe", message });
}

/** The online probes of one region, as far as the choice needs them. */
interface Region {
  readonly name: string;
  readonly continent: string | null;
  readonly country: string | null;
  /** Lowest load of its probes. */
  readonly load: number;
}

/** Chooses regions one by one: the continent used least, the country used least, the lowest load, the name. */
function spreadRegions(probes: readonly Candidate[], most: number): readonly string[] {
  let left = Array.from(
    Map.groupBy(probes, ({ region }) => region),
    ([name, there]) => regionOf(name, there),
  );
  const chosen: Region[] = [];
  const used = (key: "continent" | "country", region: Region) =>
    chosen.filter((one) => one[key] !== null && one[key] === region[key]).length;
  while (chosen.length < most) {
    const [next] = left.toSorted(
      (one, other) =>
        used("continent", one) - used("continent", other) ||
        used("country", one) - used("country", other) ||
        one.load - other.load ||
        (one.name < other.name ? -1 : 1),
    );
    if (next === undefined) break;
    chosen.push(next);
    left = left.filter((region) => region !== next);
  }
  return chosen.map(({ name }) => name);
}

function regionOf(name: string, probes: readonly Candidate[]): Region {
  const country = probes[0]?.country ?? null;
  return {
    name,
    country,
    continent: country === null ? null : continentOf(country.toUpperCase()),
    load: Math.min(...probes.map(({ load }) => load)),
  };
}
