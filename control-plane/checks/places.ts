import type { Egress } from "#shared/internet/egress.ts";
import { matches, type LocationItem, type Place } from "#shared/internet/locations.ts";
import { locationOf, type CheckAnswer, type Location } from "#control-plane/checks/answer.ts";
import { chooseInstead, chooseOne, chooseProbes, type Candidate } from "#control-plane/checks/dispatch/choose.ts";
import { unknownLocation } from "#control-plane/checks/unknown-location.ts";
import type { Roster } from "#control-plane/checks/dispatch/roster.ts";

/** A chosen probe, and its replacements if it is lost. */
export interface PlaceChoice {
  readonly place: Place;
  /** Returns the agent to use, without those that failed; null if none is left. */
  readonly pick: (excluded: ReadonlySet<string>) => string | null;
}

/** A requested location without an available probe. */
export interface OfflinePlace {
  readonly location: Location;
  /** no_probe; or probe_elsewhere: one is attached to another replica. */
  readonly reason: string;
}

/** Places where a call runs, or its answer if it cannot run. */
type Places =
  | { readonly ok: true; readonly choices: readonly PlaceChoice[]; readonly offline: readonly OfflinePlace[] }
  | { readonly ok: false; readonly answer: CheckAnswer };

/** Requirements of a call for its probes. */
export interface ProbeRequirements {
  /** Account whose own probes can be used too; null: shared ones only. */
  readonly accountId: number | null;
  /** null if the control plane chooses one probe. */
  readonly locations: readonly LocationItem[] | null;
  /** Capabilities the job needs; a probe without them is used only if there is no other. */
  readonly needs: readonly string[];
  /** Reports whether an agent with these rules can run the job. */
  readonly allows: (egress: Egress) => boolean;
}

/** Chooses the probes of a call. */
export function choosePlaces(roster: Roster, requirements: ProbeRequirements): Places {
  return requirements.locations === null
    ? chooseAny(roster, requirements)
    : chooseNamed(roster, requirements, requirements.locations);
}

/**
 * Chooses the probes of a resumed call at places chosen earlier: the same probe if it is attached, else another one
 * that the same item allows. Without an expression any other probe is allowed.
 */
export function choosePlanned(
  roster: Roster,
  requirements: ProbeRequirements,
  planned: readonly Location[],
): Extract<Places, { ok: true }> {
  const items = requirements.locations ?? [];
  const taken = planned.map((location) => location.probe_id);
  const choices = planned.map((location) => {
    const place = roster.agent(location.probe_id)?.place ?? { ...location, tags: [] };
    const item = items.find((one) => one.kind !== "remove" && matches(place, one));
    const instead = (excluded: ReadonlySet<string>) => {
      if (items.length === 0) return anyOf(roster, requirements, excluded);
      return item === undefined
        ? null
        : findReplacement(roster, requirements, { item, region: place.region }, excluded);
    };
    return { place, pick: pickFirst(roster, place.probe_id, taken, instead) };
  });
  return { ok: true, choices, offline: [] };
}

function chooseAny(roster: Roster, requirements: ProbeRequirements): Places {
  const place = anyOf(roster, requirements, new Set());
  if (place === null) {
    const { list } = roster.candidates(requirements.accountId);
    const reason = reasonOf(list.some(({ elsewhere, egress }) => elsewhere && requirements.allows(egress)));
    return { ok: false, answer: { kind: "unavailable", reason } };
  }
  const pick = pickFirst(roster, place.probe_id, [], (excluded) => anyOf(roster, requirements, excluded));
  return { ok: true, choices: [{ place, pick }], offline: [] };
}

/** Chooses one probe whose rules allow the target; a private one only if there is no shared one. */
function anyOf(
  roster: Roster,
  { accountId, needs, allows }: ProbeRequirements,
  excluded: ReadonlySet<string>,
): Candidate | null {
  const { list } = roster.candidates(accountId);
  const isUsable = ({ probe_id: id, egress }: Candidate) => !excluded.has(id) && allows(egress);
  const shared = chooseOne(list, (candidate) => candidate.accountId === null && isUsable(candidate), needs);
  return shared ?? (accountId === null ? null : chooseOne(list, isUsable, needs));
}

/** Chooses the probes of an expression. A probe that refuses the target reports it in its own row. */
function chooseNamed(roster: Roster, requirements: ProbeRequirements, items: readonly LocationItem[]): Places {
  const { list } = roster.candidates(requirements.accountId);
  const { chosen, unknown, missed } = chooseProbes(list, items, requirements.needs);
  const unmatched = items.find(({ text }) => unknown.includes(text));
  if (unmatched !== undefined) {
    return { ok: false, answer: { kind: "problem", problem: unknownLocation(unmatched, list) } };
  }
  if (chosen.length === 0) {
    const reason = reasonOf(missed.some(({ probe }) => probe.elsewhere));
    return { ok: false, answer: { kind: "unavailable", reason } };
  }
  const taken = chosen.map(({ probe }) => probe.probe_id);
  const choices = chosen.map(({ probe, item }) => {
    const lost = { item, region: probe.region };
    const instead = (excluded: ReadonlySet<string>) => findReplacement(roster, requirements, lost, excluded);
    return { place: probe, pick: pickFirst(roster, probe.probe_id, taken, instead) };
  });
  const offline = missed.map(({ probe }) => ({ location: locationOf(probe), reason: reasonOf(probe.elsewhere) }));
  return { ok: true, choices, offline };
}

function findReplacement(
  roster: Roster,
  { accountId, locations, needs }: ProbeRequirements,
  lost: { readonly item: LocationItem; readonly region: string },
  excluded: ReadonlySet<string>,
): Candidate | null {
  return chooseInstead(roster.candidates(accountId).list, locations ?? [], lost, excluded, needs);
}

/**
 * Returns a picker: the chosen probe while it accepts jobs, then a replacement not chosen for another place.
 */
function pickFirst(
  roster: Roster,
  id: string,
  taken: readonly string[],
  instead: (excluded: ReadonlySet<string>) => Candidate | null,
) {
  return (excluded: ReadonlySet<string>): string | null => {
    if (!excluded.has(id) && roster.session(id)?.candidate.online === true) return id;
    return instead(new Set([...excluded, ...taken]))?.probe_id ?? null;
  };
}

function reasonOf(isElsewhere: boolean): string {
  return isElsewhere ? "probe_elsewhere" : "no_probe";
}
