import { describe, expect, it } from "vitest";
import { readNetworkOwner, readPlace } from "#probe-agent/analysis/registry/geo.ts";

describe("a record of a location database", () => {
  it("is read in the nested form of City databases", () => {
    const record = {
      city: { geoname_id: 2_950_159, names: { de: "Berlin", en: "Berlin" } },
      continent: { code: "EU", geoname_id: 6_255_148, names: { en: "Europe" } },
      country: { iso_code: "DE", names: { en: "Germany" } },
      location: { accuracy_radius: 20, latitude: 52.5244, longitude: 13.4105, time_zone: "Europe/Berlin" },
      postal: { code: "10178" },
      subdivisions: [{ iso_code: "BE", names: { en: "State of Berlin" } }, { iso_code: "X" }],
      traits: { is_anycast: true },
    };
    expect(readPlace(record)).toEqual({
      continent: { code: "EU", name: "Europe" },
      country: { code: "DE", name: "Germany" },
      region: { code: "BE", name: "State of Berlin" },
      city: "Berlin",
      postal: "10178",
      location: { latitude: 52.5244, longitude: 13.4105, accuracy_radius_km: 20 },
      timezone: "Europe/Berlin",
    });
  });

  it("is read in the flat form", () => {
    const record = {
      city: "Berlin",
      region: "Berlin",
      country: "DE",
      country_name: "Germany",
      continent: "EU",
      postal_code: "10178",
      latitude: "52.5244",
      longitude: "13.4105",
      timezone: "Europe/Berlin",
    };
    expect(readPlace(record)).toMatchObject({
      continent: { code: "EU", name: "Europe" },
      country: { code: "DE", name: "Germany" },
      region: null,
      city: "Berlin",
      postal: "10178",
      location: { latitude: 52.5244, longitude: 13.4105, accuracy_radius_km: null },
    });
    expect(
      readPlace({ continent: "Europe", continent_code: "EU", country: "Germany", country_code: "DE" }),
    ).toMatchObject({
      continent: { code: "EU" },
    });
  });

  it("is null if it contains no location, and so are fields of the wrong type", () => {
    for (const odd of [
      null,
      "x",
      [],
      {},
      { traits: {} },
      { country: { iso_code: "Germany" }, location: { latitude: 91 } },
    ])
      expect(readPlace(odd)).toBeNull();
    expect(readPlace({ city: { names: { en: "A\u0000B" } }, location: { latitude: 1, longitude: {} } })).toMatchObject({
      city: "A B",
      location: null,
    });
  });
});

describe("a record of a network database", () => {
  it("is read in both forms", () => {
    expect(readNetworkOwner({ autonomous_system_number: 64_496, autonomous_system_organization: "Example" })).toEqual({
      asn: 64_496,
      as_name: "Example",
      isp: null,
      organization: null,
    });
    expect(readNetworkOwner({ asn: "AS64496", as_name: "Example", as_domain: "example.net" })).toMatchObject({
      asn: 64_496,
      as_name: "Example",
    });
    expect(readNetworkOwner({ isp: "Example ISP", organization: "Example Ltd" })).toMatchObject({
      asn: null,
      isp: "Example ISP",
      organization: "Example Ltd",
    });
    for (const odd of [null, 7, {}, { asn: "x" }, { asn: -1 }, { asn: 2 ** 33 }])
      expect(readNetworkOwner(odd)).toBeNull();
  });
});
