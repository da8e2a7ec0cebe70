import { describe, expect, it } from "vitest";
import { createPasswords, createFairQueue } from "#control-plane/people/users/passwords.ts";
import { systemRandom } from "#test/support/clock.ts";

const here = () => false;

/** Turns of which the only one is taken; `run` ends it, and each one that comes after it. */
async function occupied(limits: { readonly mostOfGroup: number; readonly mostWaiting: number }) {
  const turns = createFairQueue({ atOnce: 1, ...limits });
  const served: string[] = [];
  const refused = new Set<string>();
  const first = await turns.wait("first", here);
  /** Asks for a turn, and notes its name when it comes, or that it is refused. */
  const start = async (name: string, group: string, isGone: () => boolean = here) => {
    const end = await turns.wait(group, isGone);
    if (end === null) return void refused.add(name);
    served.push(name);
    end();
  };
  const run = async (waits: readonly Promise<void>[]) => {
    first?.();
    await Promise.all(waits);
    return { served, refused };
  };
  return { start, run };
}

describe("turns", () => {
  it("go round the groups, and in a group to the one that waits longest", async () => {
    const { start, run } = await occupied({ mostOfGroup: 10, mostWaiting: 10 });
    const waits = [
      start("a1", "a"),
      start("a2", "a"),
      start("a3", "a"),
      start("b1", "b"),
      start("c1", "c"),
      start("b2", "b"),
    ];
    expect(await run(waits)).toEqual({ served: ["a1", "b1", "c1", "a2", "b2", "a3"], refused: new Set() });
  });

  it("are refused to the surplus of a group alone", async () => {
    const { start, run } = await occupied({ mostOfGroup: 2, mostWaiting: 10 });
    const waits = [start("a1", "a"), start("a2", "a"), start("a3", "a"), start("b1", "b")];
    expect(await run(waits)).toEqual({ served: ["a1", "b1", "a2"], refused: new Set(["a3"]) });
  });

  it("are taken from the newest of the longest queue where no place is left, and from nobody who waits alone", async () => {
    const { start, run } = await occupied({ mostOfGroup: 10, mostWaiting: 3 });
    const waits = [
      start("a1", "a"),
      start("a2", "a"),
      start("a3", "a"),
      start("b1", "b"),
      start("c1", "c"),
      start("d1", "d"),
    ];
    expect(await run(waits)).toEqual({ served: ["a1", "b1", "c1"], refused: new Set(["a2", "a3", "d1"]) });
  });

  it("and places are left by those who have gone", async () => {
    const { start, run } = await occupied({ mostOfGroup: 2, mostWaiting: 10 });
    let isGone = false;
    const waits = [start("a1", "a", () => isGone), start("a2", "a"), start("b1", "b", () => isGone)];
    isGone = true;
    waits.push(start("a3", "a"));
    expect(await run(waits)).toEqual({ served: ["a2", "a3"], refused: new Set(["a1", "b1"]) });
  });

  it("end: afterwards a turn is free again", async () => {
    const turns = createFairQueue({ atOnce: 2, mostOfGroup: 1, mostWaiting: 1 });
    const [one, two] = [await turns.wait("a", here), await turns.wait("a", here)];
    const third = turns.wait("a", here);
    expect(await turns.wait("a", here)).toBeNull();
    one?.();
    (await third)?.();
    two?.();
    for (let index = 0; index < 2; index += 1) expect(await turns.wait("a", here)).not.toBeNull();
  });
});

describe("while 400 passwords of a network are checked", () => {
  it("one from elsewhere is next, and the surplus of the network is refused alone", async () => {
    const passwords = createPasswords(systemRandom, (address) => address.slice(0, address.lastIndexOf(".")));
    const done: (boolean | null)[] = [];
    const from = (address: string) => ({ address, isGone: here });
    const flood = Array.from({ length: 400 }, async (_, index) =>
      done.push(await passwords.verify(QUICK, "guess", from(`192.0.2.${index % 250}`))),
    );
    const honest = await passwords.verify(QUICK, "guess", from("203.0.113.1"));
    const before = done.filter((one) => one === false).length;
    await Promise.all(flood);
    expect(honest).toBe(false);
    // Two are hashed at once, and after each the groups take turns; without turns a hundred would be before it.
    expect(before).toBeLessThan(20);
    expect(done.filter((one) => one === false)).toHaveLength(102);
    expect(done.filter((one) => one === null)).toHaveLength(298);
  });
});

/** A stored hash that takes 8 KiB to compare with. */
const QUICK = `$argon2id$v=19$m=8,t=1,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
