import { describe, expect, it } from "vitest";
import { parseLocations, type Place } from "#shared/internet/locations.ts";
import { unknownLocation } from "#control-plane/checks/unknown-location.ts";

function place(region: string, country: string | null = null, city: string | null = null): Place {
  return {
    probe_id: `id-${region}`,
    region,
    country,
    city,
    asn: 64_500,
    latitude: null,
    longitude: null,
    tags: ["own"],
  };
}

function messageFor(expression: string, places: readonly Place[]): string {
  const parsed = parseLocations(expression);
  if (!parsed.ok || parsed.items[0] === undefined) throw new Error(expression);
  return unknownLocation(parsed.items[0], places).message;
}

describe("an unknown location", () => {
  const places = [place("eu-west", "IE", "Dublin"), place("eu-west", "IE"), place("sa-1", "BR", "São Paulo")];

  it("is answered with the known regions, countries and cities, once each, without ids and tags", () => {
    expect(messageFor("mars", places)).toBe(
      'no probe matches "mars". Known locations: eu-west, sa-1, BR, IE, dublin, sao-paulo',
    );
  });

  it("is answered with the nearest name for the word that no place matches", () => {
    expect(messageFor("eu-wset", places)).toContain(" Did you mean eu-west?");
    expect(messageFor("IE+sao-paolo:3", places)).toContain(" Did you mean sao-paulo?");
    expect(messageFor("IE+sao-paulo", places)).not.toContain("Did you mean");
    expect(messageFor("AS64501", places)).not.toContain("Did you mean");
  });

  it("is answered with at most 30 names", () => {
    const many = Array.from({ length: 40 }, (_, index) => place(`region-${index + 10}`, "DE"));
    const message = messageFor("mars", many);
    expect(message).toMatch(/Known locations: region-10, .*, region-39 and 11 more$/);
    expect(message.split(", ")).toHaveLength(30);
  });

  it("is answered with a simple message if no probe is enrolled", () => {
    expect(messageFor("mars", [])).toBe('no probe matches "mars": no probe is enrolled yet');
  });
});
