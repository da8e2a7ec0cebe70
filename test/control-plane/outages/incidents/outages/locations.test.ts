import { describe, expect, it } from "vitest";
import type { AffectedLocation } from "#control-plane/outages/incidents/incident.ts";
import { changeLocations } from "#control-plane/outages/incidents/outages/locations.ts";
import { seeded } from "#test/support/seeded.ts";

const NAMES = ["eu-west", "us-east", "ap-south", "sa-east", "af-south"];

function failing(name: string, reason = "refused") {
  return { location: name, fault: { stage: "connect", source: "target", reason, message: reason } as const };
}

describe("the locations of an outage", () => {
  it("keep the newest fault, also after their recovery", () => {
    const first = changeLocations([], [failing("eu-west")]);
    const second = changeLocations(first.locations, [failing("eu-west", "timeout"), failing("us-east")]);
    const third = changeLocations(second.locations, [failing("us-east")]);
    expect(third.locations.map(({ location, status, error }) => [location, status, error?.reason])).toEqual([
      ["eu-west", "up", "timeout"],
      ["us-east", "down", "refused"],
    ]);
    expect(third).toMatchObject({ failed: [], recovered: ["eu-west"] });
  });

  it("that fail again are reported again", () => {
    const known: AffectedLocation[] = [{ location: "eu-west", status: "up", error: null }];
    expect(changeLocations(known, [failing("eu-west")])).toMatchObject({
      locations: [{ location: "eu-west", status: "down" }],
      failed: [{ location: "eu-west" }],
    });
  });

  it("keep their fault if the next one is not known", () => {
    const { locations } = changeLocations([], [failing("eu-west")]);
    const { locations: after } = changeLocations(locations, [{ location: "eu-west", fault: null }]);
    expect(after).toEqual(locations);
  });

  it("have printable text of limited length and number", () => {
    const hostile = {
      location: "x".repeat(10_000),
      fault: { ...failing("x").fault, message: "a\r\nb\0".repeat(10_000) },
    };
    const many = Array.from({ length: 500 }, (_, index) => failing(`l${index}`));
    const { locations } = changeLocations([], [hostile, ...many]);
    expect(locations).toHaveLength(100);
    expect(locations[0]?.location).toHaveLength(200);
    expect(locations[0]?.error?.message.length).toBeLessThanOrEqual(500);
    expect(locations[0]?.error?.message).not.toMatch(/\p{Cc}/u);
  });

  it("are down if and only if they failed last, over any history", () => {
    const next = seeded(11);
    for (let round = 0; round < 500; round += 1) {
      let locations: readonly AffectedLocation[] = [];
      let last = new Set<string>();
      const ever = new Set<string>();
      for (let step = 0; step < 10; step += 1) {
        const now = new Set(NAMES.filter(() => next() % 2 === 0));
        const changed = changeLocations(
          locations,
          [...now].map((name) => failing(name)),
        );
        expect(new Set(changed.failed.map(({ location }) => location))).toEqual(now.difference(last));
        expect(new Set(changed.recovered)).toEqual(last.difference(now));
        ({ locations } = changed);
        for (const name of now) ever.add(name);
        expect(new Set(locations.map(({ location }) => location))).toEqual(ever);
        const down = locations.filter(({ status }) => status === "down").map(({ location }) => location);
        expect(new Set(down)).toEqual(now);
        last = now;
      }
    }
  });
});
