import { describe, expect, it } from "vitest";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createSharedCache } from "#control-plane/core/shared-cache.ts";
import { createManualClock } from "#test/support/clock.ts";

interface Value {
  readonly name: string;
  readonly load: number;
}

/** A cache whose loads the test ends. Names that begin with "no" have no value. */
function createTestCache(options: Partial<Record<"most" | "mostSize" | "mostLoads" | "mostWaiting", number>> = {}) {
  const clock = createManualClock(new Date(0));
  const loads: { readonly name: string; readonly end: () => void; readonly fail: () => void }[] = [];
  const cache = createSharedCache<Value>({
    clock,
    ttlMs: 10_000,
    most: options.most ?? 10,
    mostSize: options.mostSize ?? 100,
    sizeOf: () => 1,
    mostLoads: options.mostLoads ?? 10,
    mostWaiting: options.mostWaiting ?? 100,
    load(name) {
      const { promise, resolve, reject } = Promise.withResolvers<Value | null>();
      const value = name.startsWith("no") ? null : { name, load: loads.length + 1 };
      loads.push({ name, end: () => resolve(value), fail: () => reject(new Error("away")) });
      return promise;
    },
  });
  /** Waits until as many loads as given have begun. */
  const begun = async (count: number): Promise<void> => {
    await expect.poll(() => loads.length).toBe(count);
  };
  /** Gets a value and ends its load, if one begins. */
  const get = async (name: string): Promise<Value | null> => {
    const before = loads.length;
    const value = cache.get(name);
    await new Promise((resolve) => setImmediate(resolve));
    for (const load of loads.slice(before)) load.end();
    return value;
  };
  return { clock, cache, loads, begun, get };
}

describe("a shared cache", () => {
  it("loads a value once for all who ask at the same time, and for 10 s", async () => {
    const { cache, loads, begun, clock, get } = createTestCache();
    const asked = [cache.get("a"), cache.get("a"), cache.get("a")];
    await begun(1);
    loads[0]?.end();
    const value = { name: "a", load: 1 };
    expect(await Promise.all(asked)).toEqual([value, value, value]);
    clock.advance(9_999);
    expect(await get("a")).toEqual(value);
    clock.advance(1);
    expect(await get("a")).toEqual({ name: "a", load: 2 });
  });

  it("remembers names without a value apart from the others", async () => {
    const { loads, clock, get } = createTestCache({ most: 2 });
    await get("a");
    for (const name of ["no1", "no2", "no3"]) expect(await get(name)).toBeNull();
    expect(await get("no3")).toBeNull();
    await get("a");
    expect(loads.map(({ name }) => name)).toEqual(["a", "no1", "no2", "no3"]);
    clock.advance(10_000);
    await get("no3");
    expect(loads).toHaveLength(5);
  });

  it("is bounded by number and by size", async () => {
    const { loads, get } = createTestCache({ mostSize: 2 });
    for (const name of ["a", "b", "c"]) await get(name);
    await get("c");
    expect(loads).toHaveLength(3);
    await get("a");
    expect(loads).toHaveLength(4);
  });

  it("forgets what matches, and nothing else", async () => {
    const { cache, get } = createTestCache();
    for (const name of ["a", "b", "no"]) await get(name);
    cache.forget((value) => value?.name === "a");
    expect(await get("a")).toEqual({ name: "a", load: 4 });
    expect(await get("b")).toEqual({ name: "b", load: 2 });
    cache.forget((value) => value === null);
    await get("no");
    expect(await get("b")).toEqual({ name: "b", load: 2 });
  });

  it("loads again what was forgotten during its load", async () => {
    const { cache, loads, begun, get } = createTestCache();
    const asked = cache.get("a");
    await begun(1);
    cache.forget((value) => value?.name === "a");
    const askedAfter = cache.get("a");
    loads[0]?.end();
    await begun(2);
    loads[1]?.end();
    expect(await asked).toEqual({ name: "a", load: 2 });
    expect(await askedAfter).toEqual({ name: "a", load: 2 });
    expect(await get("a")).toEqual({ name: "a", load: 2 });
  });

  it("does not keep a value that is forgotten again and again, but returns it", async () => {
    const { cache, loads, begun, get } = createTestCache();
    const asked = cache.get("a");
    for (const attempt of [1, 2, 3]) {
      await begun(attempt);
      cache.forget(() => true);
      loads[attempt - 1]?.end();
    }
    expect(await asked).toEqual({ name: "a", load: 3 });
    expect(await get("a")).toEqual({ name: "a", load: 4 });
  });

  it("passes a failure on to all who wait, and loads again for the next one", async () => {
    const { cache, loads, begun, get } = createTestCache();
    const asked = Promise.allSettled([cache.get("a"), cache.get("a")]);
    await begun(1);
    loads[0]?.fail();
    expect((await asked).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await get("a")).toEqual({ name: "a", load: 2 });
  });

  it("loads only a few values at the same time, also after failures", async () => {
    const { cache, loads, begun } = createTestCache({ mostLoads: 2 });
    const asked = ["a", "b", "c", "d", "e"].map((name) => cache.get(name).catch(() => null));
    await begun(2);
    loads[0]?.fail();
    await begun(3);
    for (const at of [1, 2]) loads[at]?.end();
    await begun(5);
    for (const at of [3, 4]) loads[at]?.end();
    expect((await Promise.all(asked)).map((value) => value?.name ?? null)).toEqual([null, "b", "c", "d", "e"]);
  });

  it("refuses names that it does not know while too many loads wait, and takes them again later", async () => {
    const { cache, loads, begun, get } = createTestCache({ mostLoads: 1, mostWaiting: 2 });
    const asked = ["no1", "no2", "no3"].map((name) => cache.get(name));
    for (const name of ["no4", "a"]) await expect(cache.get(name)).rejects.toThrow(DatabaseAway);
    // A load that waits can be shared.
    const shared = cache.get("no3");
    for (const at of [0, 1, 2]) {
      await begun(at + 1);
      loads[at]?.end();
    }
    expect(await Promise.all([...asked, shared])).toEqual([null, null, null, null]);
    expect(await get("a")).toEqual({ name: "a", load: 4 });
  });

  it("never refuses a name that had a value, and loads it before the others, also if it was forgotten", async () => {
    const { cache, loads, begun, clock, get } = createTestCache({ mostLoads: 1, mostWaiting: 2 });
    for (const name of ["a", "b"]) await get(name);
    cache.forget((value) => value?.name === "a");
    clock.advance(10_000);
    const others = ["no1", "no2", "no3"].map((name) => cache.get(name));
    await begun(3);
    const known = ["a", "b"].map((name) => cache.get(name));
    for (const at of [2, 3, 4, 5, 6]) {
      await begun(at + 1);
      loads[at]?.end();
    }
    await Promise.all([...others, ...known]);
    expect(loads.slice(2).map(({ name }) => name)).toEqual(["no1", "a", "b", "no2", "no3"]);
  });
});
