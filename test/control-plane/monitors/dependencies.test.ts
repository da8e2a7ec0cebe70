import { describe, expect, it } from "vitest";
import { findChainProblem } from "#control-plane/monitors/dependencies.ts";
import { seeded } from "#test/support/seeded.ts";

/** The longest chain and whether there is a cycle, from all pairs, without the product's shortcuts. */
function examine(parents: ReadonlyMap<number, number>): { readonly isCyclic: boolean; readonly longest: number } {
  let longest = 1;
  for (const start of parents.keys()) {
    const seen = [start];
    for (let at = parents.get(start); at !== undefined; at = parents.get(at)) {
      if (seen.includes(at)) return { isCyclic: true, longest: Infinity };
      seen.push(at);
    }
    longest = Math.max(longest, seen.length);
  }
  return { isCyclic: false, longest };
}

describe("a dependency", () => {
  it("may make a chain of five monitors, and not of six", () => {
    const four = new Map([
      [2, 1],
      [3, 2],
      [4, 3],
    ]);
    expect(findChainProblem(four, 5, 4)).toBeNull();
    expect(findChainProblem(new Map([...four, [5, 4]]), 6, 5)).toContain("more than 5");
    // The new link joins two chains of three.
    const two = new Map([
      [2, 1],
      [3, 2],
      [5, 4],
      [6, 5],
    ]);
    expect(findChainProblem(two, 4, 3)).toContain("more than 5");
    expect(findChainProblem(two, 4, 2)).toBeNull();
  });

  it("must not be on itself, directly or through others", () => {
    expect(findChainProblem(new Map(), 1, 1)).toContain("cycle");
    expect(findChainProblem(new Map([[2, 1]]), 1, 2)).toContain("cycle");
    const three = new Map([
      [2, 1],
      [3, 2],
    ]);
    expect(findChainProblem(three, 1, 3)).toContain("cycle");
  });

  it("is decided as all chains recomputed decide, for random changes of random forests", () => {
    const next = seeded(7);
    let refused = 0;
    for (let round = 0; round < 300; round += 1) {
      const parents = new Map<number, number>();
      for (let step = 0; step < 25; step += 1) {
        const id = next() % 9;
        const parent = next() % 9;
        const others = new Map(parents);
        others.delete(id);
        const problem = findChainProblem(others, id, parent);
        const { isCyclic, longest } = examine(new Map([...others, [id, parent]]));
        expect(problem === null, JSON.stringify([...others, id, parent])).toBe(!isCyclic && longest <= 5);
        if (isCyclic && longest === Infinity && problem?.includes("cycle") === false) refused += 1;
        if (problem === null) parents.set(id, parent);
      }
    }
    expect(refused).toBe(0);
  });
});
