import { describe, expect, it } from "vitest";
import { createReleasingMap } from "#control-plane/core/releasing-map.ts";

describe("createReleasingMap", () => {
  it("keeps entries in the order in which their keys were added", () => {
    const map = createReleasingMap<string, number>();
    for (const [key, value] of [
      ["b", 1],
      ["a", 2],
      ["b", 3],
    ] as const) {
      map.set(key, value);
    }
    expect([...map.values()]).toEqual([3, 2]);
    expect(map.size).toBe(2);
    expect([map.get("b"), map.get("a"), map.get("c")]).toEqual([3, 2, undefined]);
    expect([map.has("a"), map.has("c")]).toEqual([true, false]);
  });

  it("removes entries once", () => {
    const map = createReleasingMap<number, string>();
    map.set(1, "one");
    expect([map.delete(1), map.delete(1)]).toEqual([true, false]);
    expect([map.size, map.get(1), map.has(1)]).toEqual([0, undefined, false]);
    expect([...map.values()]).toEqual([]);
  });

  it("lets entries be removed and added while its values are read", () => {
    const map = createReleasingMap<number, number>();
    for (let key = 0; key < 5; key += 1) map.set(key, key);
    const seen: number[] = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete(value + 1);
      if (value === 0) map.set(9, 9);
    }
    expect(seen).toEqual([0, 2, 4, 9]);
  });
});
