import { isUniversal, matches, type LocationItem, type Place } from "#shared/locations.ts";

/** A probe that could be chosen. */
export interface Candidate extends Place {
  readonly online: boolean;
  /** Share of its capacity in use, 0 to 1. */
  readonly load: number;
}

/** A chosen probe and the item it was chosen for. */
export interface Chosen extends Candidate {
  readonly item: LocationItem;
}

/** What a location expression comes to. */
export interface Choice {
  /** In the order of the items; no probe twice. */
  readonly chosen: readonly Chosen[];
  /** Items, as written, that match no known probe at all, online or not. */
  readonly unknown: readonly string[];
  /** Items, as written, that match known probes but none that is online. In neither list: all it matches was removed. */
  readonly offline: readonly string[];
  /** Who would have been chosen for the offline items. */
  readonly missed: readonly Chosen[];
}

/**
 * Chooses probes for an expression.
 * 1. What bare `!x` items match is out; such an item is unknown only where nobody could tell what x means.
 * 2. Items with the least to choose from choose first, so that none takes another's only probe; `all` comes last and
 *    counts regions that already have a chosen probe as served.
 * 3. Within an item: the network (AS, else region) used least so far, the region used least, the lowest load, the id.
 */
export function chooseProbes(candidates: readonly Candidate[], items: readonly LocationItem[]): Choice {
  const removals = items.filter((item) => item.kind === "remove");
  const left = candidates.filter((candidate) => !removals.some((item) => matches(candidate, item)));
  const online = left.filter((candidate) => candidate.online);
  const absent = left.filter((candidate) => !candidate.online);

  const known = (item: LocationItem) => candidates.some((candidate) => matches(candidate, item));
  const wishes = items
    .filter((item) => item.kind !== "remove")
    .map((item) => ({ item, among: online.filter((candidate) => matches(candidate, item)) }));
  const unserved = wishes.filter(({ among }) => among.length === 0).map(({ item }) => item);
  const unknown = items.filter(
    (item) => (item.kind === "remove" ? !item.terms.every(isUniversal) : unserved.includes(item)) && !known(item),
  );
  const missed = unserved
    .map((item) => ({ item, among: absent.filter((candidate) => matches(candidate, item)) }))
    .filter(({ among }) => among.length > 0);
  return {
    chosen: spread(wishes, items),
    unknown: unknown.map((item) => item.text),
    offline: missed.map(({ item }) => item.text),
    missed: spread(missed, items),
  };
}

/** Another probe for the same item after one was lost; `taken` holds the ids that are not to be used. */
export function chooseInstead(
  candidates: readonly Candidate[],
  items: readonly LocationItem[],
  lost: Chosen,
  taken: ReadonlySet<string>,
): Candidate | null {
  return chooseOne(
    candidates.filter(
      (candidate) =>
        !taken.has(candidate.probe_id) &&
        matches(candidate, lost.item) &&
        (lost.item.kind !== "all" || candidate.region === lost.region) &&
        !items.some((item) => item.kind === "remove" && matches(candidate, item)),
    ),
  );
}

/** The probe for a call that names no location: online, least loaded; null when none is online. */
export function chooseOne(candidates: readonly Candidate[]): Candidate | null {
  return best(
    candidates.filter((candidate) => candidate.online),
    (candidate) => [candidate.load],
  );
}

interface Wish {
  readonly item: LocationItem;
  readonly among: readonly Candidate[];
}

function spread(wishes: readonly Wish[], order: readonly LocationItem[]): Chosen[] {
  const taken = new Set<string>();
  const networks = new Map<string, number>();
  const regions = new Map<string, number>();
  const chosen: Chosen[] = [];
  const take = (item: LocationItem, among: readonly Candidate[]): void => {
    const free = among.filter((candidate) => !taken.has(candidate.probe_id));
    const pick = best(free, (candidate) => [
      networks.get(networkOf(candidate)) ?? 0,
      regions.get(candidate.region) ?? 0,
      candidate.load,
    ]);
    if (pick === null) return;
    taken.add(pick.probe_id);
    networks.set(networkOf(pick), (networks.get(networkOf(pick)) ?? 0) + 1);
    regions.set(pick.region, (regions.get(pick.region) ?? 0) + 1);
    chosen.push({ ...pick, item });
  };
  const slack = ({ item, among }: Wish): number => among.length - item.count;
  for (const { item, among } of wishes
    .filter((wish) => wish.item.kind !== "all")
    .toSorted((one, other) => slack(one) - slack(other))) {
    for (let n = 0; n < Math.min(item.count, among.length); n += 1) take(item, among);
  }
  for (const { item, among } of wishes.filter((wish) => wish.item.kind === "all")) {
    for (const region of [...new Set(among.map((candidate) => candidate.region))].toSorted()) {
      const there = among.filter((candidate) => candidate.region === region);
      if (!there.some((candidate) => taken.has(candidate.probe_id))) take(item, there);
    }
  }
  return chosen.toSorted((one, other) => order.indexOf(one.item) - order.indexOf(other.item));
}

function networkOf(place: Place): string {
  return place.asn === null ? `region ${place.region}` : `AS${place.asn}`;
}

/** The candidate with the smallest key, compared figure by figure, then by id. */
function best(among: readonly Candidate[], key: (candidate: Candidate) => readonly number[]): Candidate | null {
  let leader: { readonly candidate: Candidate; readonly key: readonly number[] } | null = null;
  for (const candidate of among) {
    const challenger = { candidate, key: key(candidate) };
    if (leader === null || isBefore(challenger, leader)) leader = challenger;
  }
  return leader?.candidate ?? null;
}

function isBefore(
  one: { readonly candidate: Candidate; readonly key: readonly number[] },
  other: { readonly candidate: Candidate; readonly key: readonly number[] },
): boolean {
  for (const [index, figure] of one.key.entries()) {
    const against = other.key[index] ?? 0;
    if (figure !== against) return figure < against;
  }
  return one.candidate.probe_id < other.candidate.probe_id;
}
