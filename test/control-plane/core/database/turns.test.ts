import { expect, it } from "vitest";
import { createTurns, NoTurn } from "#control-plane/core/database/turns.ts";

/** Begins works of an account in a row. Returns which have begun, and functions that end them. */
function begin(turns: ReturnType<typeof createTurns>, accountId: number, count: number) {
  const begun: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  const works = Array.from({ length: count }, (_, index) =>
    turns.run(accountId, async () => {
      begun.push(index);
      const error = await new Promise<Error | undefined>((resolve) => ends.set(index, resolve));
      if (error !== undefined) throw error;
      return index;
    }),
  );
  for (const work of works) work.catch(() => {});
  return { begun, works, end: (index: number, error?: Error) => ends.get(index)?.(error) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it("two writes of an account run at the same time, and the others in their order", async () => {
  const turns = createTurns();
  const { begun, works, end } = begin(turns, 1, 4);
  expect(begun).toEqual([0, 1]);
  end(1);
  expect(await works[1]).toBe(1);
  await settled();
  expect(begun).toEqual([0, 1, 2]);
  end(0, new Error("refused"));
  await expect(works[0]).rejects.toThrow("refused");
  await settled();
  expect(begun).toEqual([0, 1, 2, 3]);
});

it("an account does not wait for another one", () => {
  const turns = createTurns();
  begin(turns, 1, 10);
  expect(begin(turns, 2, 1).begun).toEqual([0]);
});

it("a write whose client goes away waits no longer, and never runs", async () => {
  const turns = createTurns();
  const { end } = begin(turns, 1, 2);
  const client = new AbortController();
  let hasRun = false;
  const work = () => {
    hasRun = true;
    return Promise.resolve();
  };
  const left = turns.run(1, work, client.signal);
  const next = turns.run(1, () => Promise.resolve("next"));
  client.abort();
  await expect(left).rejects.toBeInstanceOf(NoTurn);
  await expect(turns.run(1, work, client.signal)).rejects.toBeInstanceOf(NoTurn);
  end(0);
  expect(await next).toBe("next");
  expect(hasRun).toBe(false);
});

it("at most 200 writes of an account wait", async () => {
  const turns = createTurns();
  const { works, end } = begin(turns, 1, 203);
  await expect(works[202]).rejects.toThrow("200 writes of the account wait already");
  end(0);
  await settled();
  const [more] = begin(turns, 1, 1).works;
  expect(await Promise.race([more, settled().then(() => "waits")])).toBe("waits");
});
