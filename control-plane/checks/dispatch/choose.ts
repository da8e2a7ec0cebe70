import type { Egress } from "#shared/internet/egress.ts";
import { isUniversal, matches, type LocationItem, type Place } from "#shared/internet/locations.ts";

/** A probe that could be chosen. */
export interface Candidate extends Place {
  /** Attached to this replica and accepting jobs. */
  readonly online: boolean;
  /** Not attached here, but to another replica, and accepting jobs there. */
  readonly elsewhere: boolean;
  /** Share of its capacity in use, from 0; can exceed 1. */
  readonly load: number;
  /** Account of a private probe; null: shared. */
  readonly accountId: number | null;
  readonly capabilities: ReadonlySet<string>;
  /** Rules for the targets that it is allowed to reach. */
  readonly egress: Egress;
}

/** A chosen probe and the item it was chosen for. */
export interface Chosen {
  readonly probe: Candidate;
  readonly item: LocationItem;
}

/** Result of a location expression. */
interface Choice {
  /** In the order of the items; no probe twice. */
  readonly chosen: readonly Chosen[];
  /** Text of the items that match no known probe at all, online or not. */
  readonly unknown: readonly string[];
  /**
   * Text of the items that match only probes that are not online. An item whose matches were all removed is in no list.
   */
  readonly offline: readonly string[];
  /** Probes that would have been chosen for the offline items. */
  readonly missed: readonly Chosen[];
}

/**
 * Chooses probes for an expression.
 * 1. Matches of bare `!x` items are removed; such an item is unknown only if x is not a known location at all.
 * 2. Items with the fewest candidates choose first, so that none takes the only probe of another; `all` is last and
 *    counts regions that already have a chosen probe as served.
 * 3. Within an item: those with all the capabilities the job needs, the network (AS, else region) used least so far,
 *    the region used least, the lowest load, the id.
 * `candidates` are those the account can use; its private ones serve items that name a place, never `all` or `nearest`.
 */
export function chooseProbes(
  candidates: readonly Candidate[],
  items: readonly LocationItem[],
  needs: readonly string[] = [],
): Choice {
  const removed = new Set<Candidate>();
  for (const item of items) {
    if (item.kind === "remove") for (const candidate of matchingCandidates(candidates, item)) removed.add(candidate);
  }
  const matched = items
    .filter((item) => item.kind !== "remove")
    .map((item) => ({
      item,
      among: matchingCandidates(candidates, item).filter((candidate) => candidate.online && !removed.has(candidate)),
    }));
  const withoutAgent = matched.filter(({ among }) => among.length === 0).map(({ item }) => item);
  const unknown = items.filter((item) => {
    const asked = item.kind === "remove" ? !item.terms.every(isUniversal) : withoutAgent.includes(item);
    // `all` and `nearest` have no terms that name a place, so they are never unknown.
    return asked && item.terms.length > 0 && matchingCandidates(candidates, item).length === 0;
  });
  const missed = withoutAgent
    .map((item) => {
      const among = matchingCandidates(candidates, item).filter(
        (candidate) => !candidate.online && !removed.has(candidate),
      );
      // A repeated call can then reach a replica to which the probe is attached.
      const elsewhere = among.filter((candidate) => candidate.elsewhere);
      return { item, among: elsewhere.length > 0 ? elsewhere : among };
    })
    .filter(({ among }) => among.length > 0);
  return {
    chosen: chooseForItems(matched, items, needs),
    unknown: unknown.map((item) => item.text),
    offline: missed.map(({ item }) => item.text),
    missed: missed.length === 0 ? [] : chooseForItems(missed, items, needs),
  };
}

/** Chooses another probe for an item after one of this region was lost. `taken` holds ids that must not be used. */
export function chooseInstead(
  candidates: readonly Candidate[],
  items: readonly LocationItem[],
  { item, region }: { readonly item: LocationItem; readonly region: string },
  taken: ReadonlySet<string>,
  needs: readonly string[] = [],
): Candidate | null {
  return chooseOne(
    matchingCandidates(candidates, item),
    (candidate) =>
      !taken.has(candidate.probe_id) &&
      (item.kind !== "all" || candidate.region === region) &&
      !items.some((removal) => removal.kind === "remove" && matches(candidate, removal)),
    needs,
  );
}

/**
 * Chooses one online probe that `allows` accepts: with the needed capabilities first, then the lowest load, then the
 * lowest id. Returns null if there is none.
 */
export function chooseOne(
  candidates: readonly Candidate[],
  allows: (candidate: Candidate) => boolean = () => true,
  needs: readonly string[] = [],
): Candidate | null {
  let leader: Candidate | null = null;
  let leaderLack = 0;
  let leaderLoad = 0;
  for (const candidate of candidates) {
    if (!candidate.online || !allows(candidate)) continue;
    const lack = lacks(candidate, needs);
    const { load } = candidate;
    const order = leader === null ? -1 : lack - leaderLack || load - leaderLoad;
    if (leader !== null && (order > 0 || (order === 0 && candidate.probe_id >= leader.probe_id))) continue;
    leader = candidate;
    leaderLack = lack;
    leaderLoad = load;
  }
  return leader;
}

/** Maximum number of expressions cached for one list of candidates. */
const MAX_REMEMBERED = 500;
// Locations are read far more often than they change, and a list of candidates lives until one changes.
const cachedMatches = new WeakMap<readonly Candidate[], Map<string, readonly Candidate[]>>();

/** Returns the candidates that match an item, online or not. Results are cached for each list of candidates. */
function matchingCandidates(candidates: readonly Candidate[], item: LocationItem): readonly Candidate[] {
  const namesPlace = item.kind !== "all" && item.kind !== "nearest";
  const key = `${namesPlace ? "" : "shared "}${JSON.stringify(item.terms)}`;
  let lists = cachedMatches.get(candidates);
  if (lists === undefined || lists.size >= MAX_REMEMBERED) {
    lists = new Map();
    cachedMatches.set(candidates, lists);
  }
  let list = lists.get(key);
  if (list === undefined) {
    list = candidates.filter((candidate) => (namesPlace || candidate.accountId === null) && matches(candidate, item));
    lists.set(key, list);
  }
  return list;
}

/** Returns 1 if a capability is missing, else 0; a sort key. */
function lacks({ capabilities }: Candidate, needs: readonly string[]): 0 | 1 {
  return needs.every((need) => capabilities.has(need)) ? 0 : 1;
}

/** An item with the probes from which it can choose. */
interface ItemMatches {
  readonly item: LocationItem;
  readonly among: readonly Candidate[];
}

function chooseForItems(
  matched: readonly ItemMatches[],
  order: readonly LocationItem[],
  needs: readonly string[],
): Chosen[] {
  const taken = new Set<string>();
  const networks = new Map<number | string, number>();
  const regions = new Map<string, number>();
  const chosen: Chosen[] = [];
  const rank = (candidate: Candidate): Rank => ({
    candidate,
    lack: lacks(candidate, needs),
    network: networks.get(networkOf(candidate)) ?? 0,
    region: regions.get(candidate.region) ?? 0,
    load: candidate.load,
  });
  const take = (item: LocationItem, among: readonly Candidate[]): void => {
    let leader: Rank | null = null;
    for (const candidate of among) {
      if (taken.has(candidate.probe_id)) continue;
      const challenger = rank(candidate);
      if (leader === null || isBefore(challenger, leader)) leader = challenger;
    }
    if (leader === null) return;
    const { candidate: probe } = leader;
    taken.add(probe.probe_id);
    networks.set(networkOf(probe), leader.network + 1);
    regions.set(probe.region, leader.region + 1);
    chosen.push({ probe, item });
  };
  const slack = ({ item, among }: ItemMatches): number => among.length - item.count;
  for (const { item, among } of matched
    .filter((match) => match.item.kind !== "all")
    .toSorted((one, other) => slack(one) - slack(other))) {
    for (let n = 0; n < Math.min(item.count, among.length); n += 1) take(item, among);
  }
  for (const { item, among } of matched.filter((match) => match.item.kind === "all")) {
    const byRegion = Map.groupBy(among, (candidate) => candidate.region);
    for (const region of Array.from(byRegion.keys()).toSorted()) {
      const there = byRegion.get(region) ?? [];
      if (!there.some((candidate) => taken.has(candidate.probe_id))) take(item, there);
    }
  }
  return chosen.toSorted((one, other) => order.indexOf(one.item) - order.indexOf(other.item));
}

/** Rank of a candidate, lower is better: the first number that differs decides, then the id. */
interface Rank {
  readonly candidate: Candidate;
  readonly lack: number;
  readonly network: number;
  readonly region: number;
  readonly load: number;
}

function isBefore(one: Rank, other: Rank): boolean {
  const order =
    one.lack - other.lack || one.network - other.network || one.region - other.region || one.load - other.load;
  return order === 0 ? one.candidate.probe_id < other.candidate.probe_id : order < 0;
}

/** Returns the AS number, else the region. */
function networkOf(place: Place): number | string {
  return place.asn ?? place.region;
}
