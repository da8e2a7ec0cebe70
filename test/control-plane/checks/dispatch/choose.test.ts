import { describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import { parseLocations, type LocationItem } from "#shared/internet/locations.ts";
import {
  chooseInstead,
  chooseOne,
  chooseProbes,
  type Candidate,
  type Chosen,
} from "#control-plane/checks/dispatch/choose.ts";

function probe(id: string, region: string, more: Partial<Candidate> = {}): Candidate {
  const place = { country: null, city: null, asn: null, latitude: null, longitude: null, tags: [] };
  const probeOf = { accountId: null, capabilities: new Set<string>(), egress: createEgress(NO_ALLOW_LISTS) };
  return { probe_id: id, region, ...place, ...probeOf, online: true, elsewhere: false, load: 0, ...more };
}

function items(raw: string): readonly LocationItem[] {
  const parsed = parseLocations(raw);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.items;
}

function ids(candidates: readonly Candidate[], raw: string): string[] {
  return chooseProbes(candidates, items(raw)).chosen.map(({ probe: { probe_id: id } }) => id);
}

const lostOf = ({ item, probe: { region } }: Chosen) => ({ item, region });

const world: readonly Candidate[] = [
  probe("fr-1", "eu-west", { country: "FR", asn: 1, load: 0.1 }),
  probe("fr-2", "eu-west", { country: "FR", asn: 1, load: 0 }),
  probe("fr-3", "eu-west", { country: "FR", asn: 2, load: 0.9 }),
  probe("de-1", "eu-central", { country: "DE", asn: 1, load: 0.2 }),
  probe("us-1", "us-east", { country: "US", asn: 3, load: 0.5, tags: ["datacenter"] }),
  probe("us-2", "us-west", { country: "US", asn: 4, load: 0.4, online: false }),
  probe("jp-1", "asia-east", { country: "JP", asn: 5, online: false }),
];

describe("choosing probes", () => {
  it("prefers distinct networks, then distinct regions, then the lowest load", () => {
    expect(ids(world, "fr")).toEqual(["fr-2"]);
    expect(ids(world, "fr:2")).toEqual(["fr-2", "fr-3"]);
    expect(ids(world, "europe:3")).toEqual(["fr-2", "fr-3", "de-1"]);
    expect(ids(world, "europe:4")).toEqual(["fr-2", "fr-3", "de-1", "fr-1"]);
  });

  it("chooses all probes if more are requested", () => {
    expect(ids(world, "europe:50")).toHaveLength(4);
  });

  it("orders equal probes by id, regardless of the order of the candidates", () => {
    const equals = ["c", "a", "b"].map((id) => probe(id, "r"));
    expect(ids(equals, "r:2")).toEqual(["a", "b"]);
    expect(ids(equals.toReversed(), "r:2")).toEqual(["a", "b"]);
  });

  it("counts networks over all items, and regions if the network is unknown", () => {
    expect(ids(world, "de,fr")).toEqual(["de-1", "fr-3"]);
    const unknown = [probe("a1", "a"), probe("a2", "a"), probe("b1", "b", { load: 1 })];
    expect(ids(unknown, "!x+!y:2")).toEqual(["a1", "b1"]);
  });

  it("never chooses a probe twice", () => {
    expect(ids(world, "us,us,us-east,probe:us-1")).toEqual(["us-1"]);
    expect(ids(world, "fr,fr,fr,fr").toSorted()).toEqual(["fr-1", "fr-2", "fr-3"]);
  });

  it("lets items with the fewest candidates choose first, and returns probes in the order of the items", () => {
    const two = [probe("a", "r", { tags: ["x"] }), probe("b", "r", { load: 0.9 })];
    const { chosen } = chooseProbes(two, items("r,x"));
    expect(chosen.map((one) => [one.probe.probe_id, one.item.text])).toEqual([
      ["b", "r"],
      ["a", "x"],
    ]);
  });

  it("chooses one probe in each region for all, and counts regions that are already served", () => {
    expect(ids(world, "all").toSorted()).toEqual(["de-1", "fr-3", "us-1"]);
    expect(ids(world, "all,probe:fr-1")).toEqual(["de-1", "us-1", "fr-1"]);
    expect(ids(world, "all+europe").toSorted()).toEqual(["de-1", "fr-3"]);
  });

  it("removes the matches of bare negations, regardless of their position", () => {
    expect(ids(world, "all,!fr,!us-east")).toEqual(["de-1"]);
    expect(ids(world, "!as1,europe:5")).toEqual(["fr-3"]);
    expect(ids(world, "europe:5,!probe:fr-3,!DE")).toEqual(["fr-2", "fr-1"]);
  });

  it("treats nearest as anywhere, because there is no measure of distance yet", () => {
    expect(ids(world, "nearest")).toEqual(["fr-2"]);
    expect(ids(world, "nearest+us")).toEqual(["us-1"]);
  });
});

describe("private probes", () => {
  const mixed = [
    probe("mine", "office", { country: "FR", accountId: 7 }),
    probe("ours", "eu-west", { country: "FR", load: 0.5 }),
  ];

  it("serve items that name a place", () => {
    expect(ids(mixed, "office")).toEqual(["mine"]);
    expect(ids(mixed, "probe:mine")).toEqual(["mine"]);
    expect(ids(mixed, "fr:2").toSorted()).toEqual(["mine", "ours"]);
  });

  it("never serve all or nearest, narrowed or not, and never replace a probe chosen by them", () => {
    expect(ids(mixed, "all")).toEqual(["ours"]);
    expect(ids(mixed, "nearest")).toEqual(["ours"]);
    expect(ids(mixed, "all+fr")).toEqual(["ours"]);
    expect(chooseProbes(mixed, items("all+office"))).toMatchObject({ chosen: [], unknown: ["all+office"] });
    const [item] = items("all") as [LocationItem];
    expect(chooseInstead(mixed, items("all"), { item, region: "office" }, new Set())).toBeNull();
  });
});

describe("a job that needs capabilities", () => {
  const equipped = new Set(["icmp4", "traceroute"]);
  const some = [
    probe("a", "r1", { asn: 1 }),
    probe("b", "r1", { asn: 1, capabilities: equipped, load: 0.9 }),
    probe("c", "r1", { asn: 2 }),
    probe("d", "r2", { asn: 3 }),
  ];
  const chosen = (raw: string, needs: string[]) =>
    chooseProbes(some, items(raw), needs).chosen.map(({ probe: { probe_id: id } }) => id);

  it("prefers a probe with all of them to a new network or a lower load", () => {
    expect(chosen("r1", ["traceroute"])).toEqual(["b"]);
    expect(chosen("r1", ["traceroute", "icmp4"])).toEqual(["b"]);
    expect(chosen("r1", [])).toEqual(["a"]);
    expect(chosen("all", ["icmp4"]).toSorted()).toEqual(["b", "d"]);
    expect(chooseOne(some, () => true, ["icmp4"])?.probe_id).toBe("b");
  });

  it("goes to another probe if none of the place has them", () => {
    expect(chosen("r2", ["icmp4"])).toEqual(["d"]);
    expect(chosen("r1", ["browser"])).toEqual(["a"]);
    expect(chosen("r1:2", ["icmp4"])).toEqual(["b", "c"]);
    const [item] = items("r1") as [LocationItem];
    expect(chooseInstead(some, [item], { item, region: "r1" }, new Set(["b"]), ["icmp4"])?.probe_id).toBe("a");
  });
});

describe("items without a probe", () => {
  it("are unknown if no known probe, online or not, matches", () => {
    expect(chooseProbes(world, items("mars,fr,us+home"))).toMatchObject({ unknown: ["mars", "us+home"], offline: [] });
  });

  it("are never unknown if they name no place", () => {
    expect(chooseProbes([], items("all,nearest"))).toEqual({ chosen: [], unknown: [], offline: [], missed: [] });
    expect(chooseProbes([], items("all+mars")).unknown).toEqual(["all+mars"]);
  });

  it("are offline if only probes match that have left", () => {
    const choice = chooseProbes(world, items("jp,us-west,fr"));
    expect(choice).toMatchObject({ unknown: [], offline: ["jp", "us-west"] });
    expect(choice.chosen.map(({ probe: { probe_id: id } }) => id)).toEqual(["fr-2"]);
    expect(choice.missed.map(({ probe: { probe_id: id } }) => id)).toEqual(["jp-1", "us-2"]);
  });

  it("prefer a probe of another replica as the missed one", () => {
    const away = [probe("off", "jp", { online: false }), probe("there", "jp", { online: false, elsewhere: true })];
    expect(chooseProbes(away, items("jp")).missed.map(({ probe: { probe_id: id } }) => id)).toEqual(["there"]);
  });

  it("are neither if their matches were removed", () => {
    expect(chooseProbes(world, items("de,!eu-central"))).toEqual({ chosen: [], unknown: [], offline: [], missed: [] });
  });

  it("are unknown as removals only if they name no known location", () => {
    expect(chooseProbes(world, items("all,!eu-wset")).unknown).toEqual(["!eu-wset"]);
    expect(chooseProbes(world, items("all,!br,!oceania,!as99,!probe:gone-since")).unknown).toEqual([]);
    expect(chooseProbes(world, items("all,!datacenter,!jp")).unknown).toEqual([]);
  });
});

describe("another probe after one was lost", () => {
  const expression = items("fr,all,!probe:fr-1");

  it("matches the same item, is online, not removed and not taken", () => {
    const [lost] = chooseProbes(world, expression).chosen;
    expect(lost?.probe.probe_id).toBe("fr-2");
    if (lost === undefined) return;
    expect(chooseInstead(world, expression, lostOf(lost), new Set(["fr-2"]))?.probe_id).toBe("fr-3");
    expect(chooseInstead(world, expression, lostOf(lost), new Set(["fr-2", "fr-3"]))).toBeNull();
  });

  it("is in the same region if the item is all", () => {
    const lost = chooseProbes(world, items("all")).chosen.find(({ probe: { region } }) => region === "us-east");
    expect(lost).toBeDefined();
    if (lost === undefined) return;
    expect(chooseInstead(world, items("all"), lostOf(lost), new Set(["us-1"]))).toBeNull();
    const more = [...world, probe("us-3", "us-east")];
    expect(chooseInstead(more, items("all"), lostOf(lost), new Set(["us-1"]))?.probe_id).toBe("us-3");
  });
});

describe("a call without locations", () => {
  it("chooses the online probe with the lowest load, then the lowest id, or null if there is none", () => {
    expect(chooseOne(world)?.probe_id).toBe("fr-2");
    expect(chooseOne([probe("b", "r"), probe("a", "r")])?.probe_id).toBe("a");
    expect(chooseOne([probe("a", "r", { online: false })])).toBeNull();
    expect(chooseOne([])).toBeNull();
  });
});
