import type { Egress } from "#shared/egress.ts";
import { matches, type LocationItem, type Place } from "#shared/locations.ts";
import { locationOf, type CheckAnswer, type Location } from "#control-plane/checks/answer.ts";
import { chooseInstead, chooseOne, chooseProbes, type Chosen } from "#control-plane/dispatch/choose.ts";
import type { Roster } from "#control-plane/dispatch/roster.ts";

/** One probe to ask, and whom to ask instead when it is lost. */
export interface PlaceChoice {
  readonly place: Place;
  /** The agent to use given those that failed; null when none is left. */
  readonly pick: (excluded: ReadonlySet<string>) => string | null;
}

/** Where a call runs, or its answer where it cannot run at all. */
export type Places =
  | {
      readonly ok: true;
      readonly choices: readonly PlaceChoice[];
      /** Locations asked for whose probes are all offline. */
      readonly offline: readonly Location[];
    }
  | { readonly ok: false; readonly answer: CheckAnswer };

/** Chooses the probes of a call; `allows` says whether an agent with these rules may be asked at all. */
export function choosePlaces(
  roster: Roster,
  items: readonly LocationItem[] | null,
  allows: (egress: Egress) => boolean,
): Places {
  return items === null ? chooseAny(roster, allows) : chooseNamed(roster, items);
}

/** One probe of the system's choice, among those whose rules allow the target. */
function chooseAny(roster: Roster, allows: (egress: Egress) => boolean): Places {
  const best = (excluded: ReadonlySet<string>) =>
    chooseOne(
      roster.candidates().filter(({ probe_id: id }) => {
        const agent = roster.agent(id);
        return !excluded.has(id) && agent !== undefined && allows(agent.egress);
      }),
    );
  const place = best(new Set());
  if (place === null) return { ok: false, answer: { kind: "unavailable", reason: "no_probe" } };
  const pick = (excluded: ReadonlySet<string>) => {
    const first = roster.session(place.probe_id);
    const usable = first !== undefined && !first.draining && !excluded.has(place.probe_id);
    return usable ? place.probe_id : (best(excluded)?.probe_id ?? null);
  };
  return { ok: true, choices: [{ place, pick }], offline: [] };
}

/** The probes an expression names. Those that refuse the target say so themselves, each in its own row. */
function chooseNamed(roster: Roster, items: readonly LocationItem[]): Places {
  const { chosen, unknown, missed } = chooseProbes(roster.candidates(), items);
  const [first] = unknown;
  if (first !== undefined) {
    const message = `knows no place ${JSON.stringify(first)}; GET /api/v4/probes lists the regions`;
    const problem = { field: "locations", reason: "unknown_location", message } as const;
    return { ok: false, answer: { kind: "problem", problem } };
  }
  if (chosen.length === 0) return { ok: false, answer: { kind: "unavailable", reason: "no_probe" } };
  const taken = chosen.map((probe) => probe.probe_id);
  const choices = chosen.map((probe) => ({ place: probe, pick: pickFor(roster, items, probe, taken) }));
  return { ok: true, choices, offline: missed.map(locationOf) };
}

/**
 * Places chosen earlier, by a call that is taken up again: the same probe where it is attached, else another one that the
 * same item allows. Without items any other one will do.
 */
export function choosePlanned(
  roster: Roster,
  items: readonly LocationItem[],
  planned: readonly Location[],
): Extract<Places, { ok: true }> {
  const taken = planned.map((location) => location.probe_id);
  const choices = planned.map((location) => {
    const place = roster.agent(location.probe_id)?.place ?? { ...location, tags: [] };
    const item = items.find((one) => one.kind !== "remove" && matches(place, one)) ?? fallbackItem(items, place);
    return { place, pick: pickFor(roster, items, { ...place, online: true, load: 0, item }, taken) };
  });
  return { ok: true, choices, offline: [] };
}

/** Without an expression any probe, else no other than the one chosen. */
function fallbackItem(items: readonly LocationItem[], { probe_id: id }: Place): LocationItem {
  const terms = items.length === 0 ? [] : [{ kind: "probe", id: id.toLowerCase(), negated: false } as const];
  return { text: "", kind: "some", terms, count: 1 };
}

function pickFor(roster: Roster, items: readonly LocationItem[], probe: Chosen, taken: readonly string[]) {
  return (excluded: ReadonlySet<string>): string | null => {
    if (!excluded.has(probe.probe_id) && roster.session(probe.probe_id) !== undefined) return probe.probe_id;
    const unusable = new Set([...excluded, ...taken]);
    return chooseInstead(roster.candidates(), items, probe, unusable)?.probe_id ?? null;
  };
}
