import { beforeEach, describe, expect, it } from "vitest";
import { digestKey, createKey } from "#control-plane/accounts/keys/format.ts";
import { createKeyLookup, type KeyLookup } from "#control-plane/accounts/keys/lookup.ts";
import type { Principal } from "#control-plane/http/access/principal.ts";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";

const plan = BUILT_IN_PLANS.pro;
let clock: ReturnType<typeof createManualClock>;
let owners: Map<string, Principal>;
let loads: (readonly string[])[];
let beforeAnswer: () => Promise<void>;
let lookup: KeyLookup;

beforeEach(() => {
  clock = createManualClock(new Date("2026-03-01T00:00:00Z"));
  owners = new Map();
  loads = [];
  beforeAnswer = async () => {};
  lookup = createKeyLookup({
    clock,
    maxCached: 10,
    load: async (digests) => {
      loads.push(digests);
      const found = new Map([...owners].filter(([digest]) => digests.includes(digest)));
      await beforeAnswer();
      return found;
    },
  });
});

function add(accountId = 1): string {
  const key = createKey(systemRandom);
  owners.set(digestKey(key), { keyId: owners.size + 1, accountId, plan, scopes: plan.scopes });
  return key;
}

const find = (key: string) =>
  new Promise<Principal | null>((resolve, reject) => {
    lookup.find(key, (error, principal) => {
      if (error === null) resolve(principal);
      else reject(error);
    });
  });

describe("the owner of a key", () => {
  it("is loaded once for all waiting requests, and cached for 5 s", async () => {
    const [first, second] = [add(1), add(2)];
    const found = await Promise.all([find(first), find(second), find(first), find(createKey(systemRandom))]);
    expect(found.map((principal) => principal?.accountId)).toEqual([1, 2, 1, undefined]);
    expect(loads.length).toBe(1);
    let answered = false;
    lookup.find(first, () => {
      answered = true;
    });
    expect(answered).toBe(true);
    clock.advance(4_999);
    await find(first);
    expect(loads.length).toBe(1);
    clock.advance(1);
    await find(first);
    expect(loads.length).toBe(2);
  });

  it("of a key with a wrong checksum is null, without a look-up", async () => {
    expect(await find(`${createKey(systemRandom).slice(0, -1)}!`)).toBeNull();
    expect(await find("x".repeat(100_000))).toBeNull();
    expect(loads).toEqual([]);
  });

  it("is loaded again after it was forgotten", async () => {
    const [one, two, three] = [add(1), add(1), add(2)];
    await Promise.all([find(one), find(two), find(three)]);
    lookup.forgetKey(digestKey(one));
    await find(one);
    expect(loads.at(-1)).toEqual([digestKey(one)]);
    lookup.forgetAccount(1);
    await Promise.all([find(one), find(two), find(three)]);
    expect(new Set(loads.at(-1))).toEqual(new Set([digestKey(one), digestKey(two)]));
    lookup.forgetAll();
    await find(three);
    expect(loads.at(-1)).toEqual([digestKey(three)]);
  });

  it("is not cached if the key was revoked during the look-up", async () => {
    const key = add();
    beforeAnswer = async () => {
      owners.delete(digestKey(key));
      lookup.forgetKey(digestKey(key));
    };
    expect(await find(key)).not.toBeNull();
    expect(await find(key)).toBeNull();
  });

  it("is cached for a bounded number of keys, and unknown keys never evict valid ones", async () => {
    const key = add();
    await find(key);
    for (let at = 0; at < 50; at += 1) await find(createKey(systemRandom));
    const before = loads.length;
    await find(key);
    expect(loads.length).toBe(before);
  });

  it("is unknown while the database is away: waiting requests get an error, later ones succeed", async () => {
    const key = add();
    beforeAnswer = () => Promise.reject(new Error("away"));
    const settled = await Promise.allSettled([find(key), find(add(2))]);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    beforeAnswer = async () => {};
    expect((await find(key))?.accountId).toBe(1);
  });
});
