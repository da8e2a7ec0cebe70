import { describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/egress.ts";
import { parseLocations, type LocationItem } from "#shared/locations.ts";
import { chooseInstead, chooseOne, chooseProbes, type Candidate, type Chosen } from "#control-plane/dispatch/choose.ts";

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
  it("takes distinct networks first, then distinct regions, then the least loaded", () => {
    expect(ids(world, "fr")).toEqual(["fr-2"]);
    expect(ids(world, "fr:2")).toEqual(["fr-2", "fr-3"]);
    expect(ids(world, "europe:3")).toEqual(["fr-2", "fr-3", "de-1"]);
    expect(ids(world, "europe:4")).toEqual(["fr-2", "fr-3", "de-1", "fr-1"]);
  });

  it("takes what there is when more are asked for", () => {
    expect(ids(world, "europe:50")).toHaveLength(4);
  });

  it("is stable by id between equals, whatever the order of arrival", () => {
    const equals = ["c", "a", "b"].map((id) => probe(id, "r"));
    expect(ids(equals, "r:2")).toEqual(["a", "b"]);
    expect(ids(equals.toReversed(), "r:2")).toEqual(["a", "b"]);
  });

  it("counts networks over all items, and regions where the network is not known", () => {
    expect(ids(world, "de,fr")).toEqual(["de-1", "fr-3"]);
    const unknown = [probe("a1", "a"), probe("a2", "a"), probe("b1", "b", { load: 1 })];
    expect(ids(unknown, "!x+!y:2")).toEqual(["a1", "b1"]);
  });

  it("never takes a probe twice", () => {
    expect(ids(world, "us,us,us-east,probe:us-1")).toEqual(["us-1"]);
    expect(ids(world, "fr,fr,fr,fr").toSorted()).toEqual(["fr-1", "fr-2", "fr-3"]);
  });

  it("lets items with the least to choose from choose first, and answers in the order of the items", () => {
    const two = [probe("a", "r", { tags: ["x"] }), probe("b", "r", { load: 0.9 })];
    const { chosen } = chooseProbes(two, items("r,x"));
    expect(chosen.map((one) => [one.probe.probe_id, one.item.text])).toEqual([
      ["b", "r"],
      ["a", "x"],
    ]);
  });

  it("takes one in each region for all, regions already served included", () => {
    expect(ids(world, "all").toSorted()).toEqual(["de-1", "fr-3", "us-1"]);
    expect(ids(world, "all,probe:fr-1")).toEqual(["de-1", "us-1", "fr-1"]);
    expect(ids(world, "all+europe").toSorted()).toEqual(["de-1", "fr-3"]);
  });

  it("takes out what bare negations match, in whatever place they stand", () => {
    expect(ids(world, "all,!fr,!us-east")).toEqual(["de-1"]);
    expect(ids(world, "!as1,europe:5")).toEqual(["fr-3"]);
    expect(ids(world, "europe:5,!probe:fr-3,!DE")).toEqual(["fr-2", "fr-1"]);
  });

  it("treats nearest as anywhere while there is nothing to measure by", () => {
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

  it("never serve all or nearest, narrowed or not, nor stand in for a probe chosen by them", () => {
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

  it("goes to a probe that has all of them before a nearer network or a lower load", () => {
    expect(chosen("r1", ["traceroute"])).toEqual(["b"]);
    expect(chosen("r1", ["traceroute", "icmp4"])).toEqual(["b"]);
    expect(chosen("r1", [])).toEqual(["a"]);
    expect(chosen("all", ["icmp4"]).toSorted()).toEqual(["b", "d"]);
    expect(chooseOne(some, () => true, ["icmp4"])?.probe_id).toBe("b");
  });

  it("goes to another where none of the place has them", () => {
    expect(chosen("r2", ["icmp4"])).toEqual(["d"]);
    expect(chosen("r1", ["browser"])).toEqual(["a"]);
    expect(chosen("r1:2", ["icmp4"])).toEqual(["b", "c"]);
    const [item] = items("r1") as [LocationItem];
    expect(chooseInstead(some, [item], { item, region: "r1" }, new Set(["b"]), ["icmp4"])?.probe_id).toBe("a");
  });
});

describe("items nobody serves", () => {
  it("are unknown when no probe, online or not, ever matched", () => {
    expect(chooseProbes(world, items("mars,fr,us+home"))).toMatchObject({ unknown: ["mars", "us+home"], offline: [] });
  });

  it("are never unknown where they name no place: then nobody is there", () => {
    expect(chooseProbes([], items("all,nearest"))).toEqual({ chosen: [], unknown: [], offline: [], missed: [] });
    expect(chooseProbes([], items("all+mars")).unknown).toEqual(["all+mars"]);
  });

  it("are offline when only probes that left match", () => {
    const choice = chooseProbes(world, items("jp,us-west,fr"));
    expect(choice).toMatchObject({ unknown: [], offline: ["jp", "us-west"] });
    expect(choice.chosen.map(({ probe: { probe_id: id } }) => id)).toEqual(["fr-2"]);
    expect(choice.missed.map(({ probe: { probe_id: id } }) => id)).toEqual(["jp-1", "us-2"]);
  });

  it("are missed at a probe that another replica has, where there is one", () => {
    const away = [probe("off", "jp", { online: false }), probe("there", "jp", { online: false, elsewhere: true })];
    expect(chooseProbes(away, items("jp")).missed.map(({ probe: { probe_id: id } }) => id)).toEqual(["there"]);
  });

  it("are neither when what they match was removed", () => {
    expect(chooseProbes(world, items("de,!eu-central"))).toEqual({ chosen: [], unknown: [], offline: [], missed: [] });
  });

  it("are unknown as removals only where no one could say what they mean", () => {
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

  it("stands in the same region where the item is all", () => {
    const lost = chooseProbes(world, items("all")).chosen.find(({ probe: { region } }) => region === "us-east");
    expect(lost).toBeDefined();
    if (lost === undefined) return;
    expect(chooseInstead(world, items("all"), lostOf(lost), new Set(["us-1"]))).toBeNull();
    const more = [...world, probe("us-3", "us-east")];
    expect(chooseInstead(more, items("all"), lostOf(lost), new Set(["us-1"]))?.probe_id).toBe("us-3");
  });
});

describe("a call without locations", () => {
  it("takes the least loaded probe online, by id between equals, and null when there is none", () => {
    expect(chooseOne(world)?.probe_id).toBe("fr-2");
    expect(chooseOne([probe("b", "r"), probe("a", "r")])?.probe_id).toBe("a");
    expect(chooseOne([probe("a", "r", { online: false })])).toBeNull();
    expect(chooseOne([])).toBeNull();
  });
});
