import { expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import { createWithoutAgent } from "#control-plane/watching/checking/watch/without-agent.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";

const GRACE_MS = 20_000;
const LOCATIONS = ["eu-west", "us-east"];

function probe(region: string, where: "here" | "elsewhere" | "gone", accountId: number | null = null): Candidate {
  const place = { country: null, city: null, asn: null, latitude: null, longitude: null, tags: [] };
  const attached = { online: where === "here", elsewhere: where === "elsewhere", load: 0, accountId };
  const rest = { capabilities: new Set<string>(), egress: createEgress(NO_ALLOW_LISTS) };
  return { probe_id: region, region, ...place, ...attached, ...rest };
}

/** Knowledge about agents that a test attaches and detaches, by a clock that it sets. */
function know(first: readonly Candidate[]) {
  let shared = first;
  const owned = new Map<number, readonly Candidate[]>();
  let now = 0;
  const roster = {
    candidates: (accountId: number | null) => {
      const list = (accountId === null ? undefined : owned.get(accountId)) ?? shared;
      return { list, rules: [], sharedRules: [] };
    },
  };
  const withoutAgent = createWithoutAgent({
    roster,
    monitors: createWatchedMonitors(),
    clock: { monotonic: () => now },
  });
  return {
    among: (accountId = 1) => withoutAgent.among(accountId, LOCATIONS),
    wait: (ms: number) => (now += ms),
    attach: (list: readonly Candidate[]) => (shared = list),
    own: (accountId: number, list: readonly Candidate[]) => owned.set(accountId, list),
  };
}

it("a location without a connected probe counts as that after the time in which probes attach again", () => {
  const known = know([probe("eu-west", "here"), probe("us-east", "gone")]);
  expect(known.among()).toEqual([]);
  known.wait(GRACE_MS - 1);
  expect(known.among()).toEqual([]);
  known.wait(1);
  expect(known.among()).toEqual(["us-east"]);
});

it("a probe that returns in time leaves no trace", () => {
  const known = know([probe("eu-west", "here")]);
  known.among();
  known.wait(GRACE_MS - 1);
  known.attach([probe("eu-west", "here"), probe("us-east", "elsewhere")]);
  expect(known.among()).toEqual([]);
  known.attach([probe("eu-west", "here")]);
  known.wait(1_000);
  expect(known.among()).toEqual([]);
});

it("a private probe serves its own account alone", () => {
  const known = know([probe("eu-west", "here")]);
  known.own(2, [probe("eu-west", "here"), probe("us-east", "here", 2)]);
  known.among(1);
  known.among(2);
  known.wait(GRACE_MS);
  expect([known.among(1), known.among(2)]).toEqual([["us-east"], []]);
});
