import { describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import { chooseLocations, vetLocations } from "#control-plane/monitors/places.ts";

const PUBLIC = createEgress(NO_ALLOW_LISTS);
const OPEN = createEgress({ targets: ["10.0.0.0/8"], names: [] });

function probe(region: string, country: string | null, over: Partial<Candidate> = {}): Candidate {
  return {
    probe_id: `agent-${region}-${over.load ?? 0}`,
    region,
    country,
    city: null,
    asn: null,
    latitude: null,
    longitude: null,
    tags: [],
    online: true,
    elsewhere: false,
    load: 0,
    accountId: null,
    capabilities: new Set(),
    egress: PUBLIC,
    ...over,
  };
}

function choose(probes: readonly Candidate[], most = 10, allows = () => true): readonly string[] | string {
  const chosen = chooseLocations("http", probes, most, allows);
  return chosen.ok ? chosen.value : chosen.refusal.code;
}

describe("the locations of a monitor whose user names none", () => {
  it("are three regions on three continents if there are so many", () => {
    const probes = [probe("de", "DE"), probe("fr", "FR"), probe("jp", "JP"), probe("us", "US"), probe("ca", "CA")];
    expect(choose(probes)).toEqual(["ca", "de", "jp"]);
  });

  it("are in different countries if there is one continent, then in different regions", () => {
    expect(choose([probe("de-1", "DE"), probe("de-2", "DE"), probe("fr", "FR")])).toEqual(["de-1", "fr", "de-2"]);
    expect(choose([probe("a", null), probe("b", null)])).toEqual(["a", "b"]);
  });

  it("are the least loaded ones, a region counting as its least loaded probe", () => {
    const probes = [
      probe("a", "DE", { load: 0.9 }),
      probe("b", "DE", { load: 0.5 }),
      probe("c", "DE", { load: 0.2 }),
      probe("d", "DE", { load: 0.9 }),
      probe("d", "DE", { load: 0.1 }),
    ];
    expect(choose(probes)).toEqual(["d", "c", "b"]);
  });

  it("are no more than the plan allows, and each region is named once", () => {
    const probes = [probe("a", "DE", { load: 0.1 }), probe("a", "DE", { load: 0.2 }), probe("b", "US")];
    expect(choose(probes, 1)).toEqual(["b"]);
    expect(choose(probes, 2)).toEqual(["b", "a"]);
  });

  it("have a probe online here or at another replica, and a shared one if there is any", () => {
    const away = probe("away", "DE", { online: false });
    expect(choose([away, probe("other", "DE", { online: false, elsewhere: true })])).toEqual(["other"]);
    expect(choose([probe("own", "DE", { accountId: 1 }), probe("shared", "FR")])).toEqual(["shared"]);
    expect(choose([probe("own", "DE", { accountId: 1 }), away])).toEqual(["own"]);
    expect(choose([away])).toBe("probe_unavailable");
    expect(choose([])).toBe("probe_unavailable");
  });

  it("have a probe that can check the target", () => {
    const probes = [probe("outside", "DE"), probe("inside", "DE", { egress: OPEN })];
    const chosen = chooseLocations("http", probes, 3, (egress) => egress === OPEN);
    expect(chosen).toEqual({ ok: true, value: ["inside"] });
  });
});

describe("named locations", () => {
  const probes = [probe("eu-west", "DE"), probe("us-east", "US", { online: false })];

  it("may have no probe online, but must be known", () => {
    expect(vetLocations(["us-east", "DE", "europe"], probes).ok).toBe(true);
    expect(vetLocations(["eu-west", "eu-wset"], probes)).toMatchObject({
      refusal: {
        code: "missing_parameter",
        field: "locations",
        reason: "unknown_location",
        message: expect.stringContaining("Did you mean eu-west?") as string,
      },
    });
  });
});
