import { expect, it } from "vitest";
import type { Candidate } from "#control-plane/dispatch/choose.ts";
import { choosePlaces } from "#control-plane/evidence/places.ts";
import { NEW_STATE } from "#control-plane/monitors/state/state.ts";
import { createEgress, NO_ALLOW_LISTS } from "#shared/egress.ts";

function probe(region: string, accountId: number | null, load = 0): Candidate {
  const place = {
    probe_id: region,
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

it("asks the least loaded other probe whether the target works there", () => {
  const probes = [probe("eu-west", null), probe("us-east", null, 0.5), probe("ap-south", null, 0.1)];
  expect(choosePlaces([], NEW_STATE, ["eu-west"], probes).other).toBe("ap-south");
});

it("asks no shared probe about a monitor that only private probes check", () => {
  const shared = probe("eu-west", null);
  expect(choosePlaces([], NEW_STATE, ["office"], [probe("office", 1), shared]).other).toBeNull();
  const branch = probe("branch", 1, 0.9);
  expect(choosePlaces([], NEW_STATE, ["office"], [probe("office", 1), shared, branch]).other).toBe("branch");
});

it("asks shared probes about a monitor that shared probes check too", () => {
  const probes = [probe("office", 1), probe("eu-west", null), probe("us-east", null)];
  expect(choosePlaces([], NEW_STATE, ["office", "eu-west"], probes).other).toBe("us-east");
});
