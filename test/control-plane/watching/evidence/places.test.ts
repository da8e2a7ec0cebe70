import { describe, expect, it } from "vitest";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import { choosePlaces } from "#control-plane/watching/evidence/places.ts";
import type { AffectedLocation } from "#control-plane/outages/incidents/incident.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";

function probe(region: string, accountId: number | null, load = 0): Candidate {
  const place = {
    probe_id: `${region}-${accountId}`,
    region,
    country: null,
    city: null,
    asn: null,
    latitude: null,
    longitude: null,
    tags: [],
  };
  const attached = { online: true, elsewhere: false, load, accountId };
  return { ...place, ...attached, capabilities: new Set(), egress: createEgress(NO_ALLOW_LISTS) };
}

function failing(location: string, reason: string): AffectedLocation {
  return { location, status: "down", error: { stage: "connect", source: "target", reason, message: "" } };
}

/** A monitor that is up at these locations. */
function upAt(...locations: readonly string[]): MonitorState {
  const known = { verdict: "up", at: 1, streak: 1, since: 1, fault: null } as const;
  return { ...NEW_STATE, locations: new Map(locations.map((location) => [location, known])) };
}

describe("whether a target works elsewhere", () => {
  it("is asked of the least loaded other probe", () => {
    const probes = [probe("eu-west", null), probe("us-east", null, 0.5), probe("ap-south", null, 0.1)];
    const { other } = choosePlaces([], NEW_STATE, ["eu-west"], probes);
    expect(other).toEqual({ location: "ap-south", sharedOnly: true });
  });

  it("is asked of no private probe whose location the monitor does not name", () => {
    const probes = [probe("eu-west", null), probe("office", 1)];
    expect(choosePlaces([], NEW_STATE, ["eu-west"], probes).other).toBeNull();
    const more = [...probes, probe("us-east", null, 0.9), probe("us-east", 1)];
    const { other } = choosePlaces([], NEW_STATE, ["eu-west"], more);
    expect(other).toEqual({ location: "us-east", sharedOnly: true });
  });

  it("is asked of a private probe whose location the monitor names", () => {
    const probes = [probe("eu-west", null), probe("office", 1)];
    const { failing: at, other } = choosePlaces(
      [failing("eu-west", "timeout")],
      upAt("office"),
      ["eu-west", "office"],
      probes,
    );
    expect([at, other]).toEqual(["eu-west", { location: "office", sharedOnly: false }]);
  });

  it("is asked of nobody about a monitor that only private probes check", () => {
    const probes = [probe("office", 1), probe("eu-west", null), probe("branch", 1)];
    expect(choosePlaces([], NEW_STATE, ["office"], probes).other).toBeNull();
  });

  it("is asked of shared probes about a monitor that shared probes check too", () => {
    const probes = [probe("office", 1), probe("eu-west", null), probe("us-east", null)];
    const { other } = choosePlaces([], NEW_STATE, ["office", "eu-west"], probes);
    expect(other).toEqual({ location: "us-east", sharedOnly: true });
  });

  it("is asked of nobody if one of its locations refused the target", () => {
    const probes = [probe("eu-west", null), probe("office", 1), probe("us-east", null)];
    const refused = [failing("eu-west", "target_not_allowed")];
    expect(choosePlaces(refused, NEW_STATE, ["eu-west"], probes).other).toBeNull();
    expect(choosePlaces(refused, upAt("office"), ["eu-west", "office"], probes).other).toBeNull();
  });

  it("is asked of no location that the monitor no longer has", () => {
    const probes = [probe("eu-west", null), probe("office", 1)];
    const affected = [failing("office", "timeout"), failing("eu-west", "timeout")];
    expect(choosePlaces(affected, NEW_STATE, ["eu-west"], probes)).toMatchObject({ failing: "eu-west", other: null });
    expect(choosePlaces([], upAt("office"), ["eu-west"], probes).other).toBeNull();
  });
});
