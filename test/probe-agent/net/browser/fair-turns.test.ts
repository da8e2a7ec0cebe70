import { describe, expect, it } from "vitest";
import { createFairTurns, type FairTurns } from "#probe-agent/net/browser/fair-turns.ts";
import { createManualClock } from "#test/support/clock.ts";
import { until } from "#test/support/until.ts";

const FOREVER = new AbortController().signal;

/** Begins a request of an account; `began` has the accounts in the order of their turns. */
function scene(options: { readonly slots: number; readonly budgetMs?: number }) {
  const clock = createManualClock(new Date(0));
  const turns: FairTurns = createFairTurns({ budgetMs: 1e9, ...options, clock });
  const began: string[] = [];
  const leaves: (() => void)[] = [];
  const ask = async (account: string, signal = FOREVER): Promise<void> => {
    const leave = await turns.take(account, signal);
    if (leave === null) return;
    began.push(account);
    leaves.push(leave);
  };
  const askAll = (accounts: string) => Array.from(accounts, (account) => void ask(account));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  /** Ends the turn that began first, and returns who began in its place. */
  const leave = async (): Promise<string> => {
    const before = began.length;
    leaves.shift()?.();
    await settled();
    return began.slice(before).join("");
  };
  return { clock, turns, began, ask, askAll, leave, settled };
}

describe("turns", () => {
  it("leave a place to others, however much one account asks for", async () => {
    const { askAll, began, settled, turns } = scene({ slots: 2 });
    askAll("AAAAAAAA");
    await settled();
    expect(began.join("")).toBe("A");
    expect(turns.waiting("A")).toBe(7);
    askAll("B");
    await settled();
    expect(began.join("")).toBe("AB");
  });

  it("go round the accounts, in the order of their last turns", async () => {
    const { askAll, leave, settled } = scene({ slots: 1 });
    askAll("AAAABBC");
    await settled();
    const order = [];
    for (let turn = 0; turn < 6; turn += 1) order.push(await leave());
    expect(order.join("")).toBe("BCABAA");
  });

  it("go to the account with the fewest now", async () => {
    const { askAll, began, leave, settled } = scene({ slots: 4 });
    askAll("AAAAABBB");
    await settled();
    expect(began.join("")).toBe("AAAB");
    expect(await leave()).toBe("B");
  });

  it("are taken one after the other by a single account of a single place", async () => {
    const { askAll, began, leave, settled } = scene({ slots: 1 });
    askAll("AA");
    await settled();
    expect(began.join("")).toBe("A");
    expect(await leave()).toBe("A");
  });

  it("are not taken by who has given up, which holds up nobody", async () => {
    const { ask, askAll, began, leave, settled, turns } = scene({ slots: 1 });
    const patience = new AbortController();
    askAll("A");
    void ask("B", patience.signal);
    askAll("C");
    await settled();
    patience.abort();
    await settled();
    expect(turns.waiting("B")).toBe(0);
    expect(await leave()).toBe("C");
    expect(await turns.take("D", AbortSignal.abort())).toBeNull();
    expect(began.join("")).toBe("AC");
  });
});

describe("the time of an account", () => {
  it("is limited in any minute, for this account alone", async () => {
    const { askAll, began, clock, leave, settled, turns } = scene({ slots: 2, budgetMs: 20_000 });
    askAll("AA");
    await settled();
    clock.advance(25_000);
    expect(turns.isSpent("A")).toBe(true);
    expect(await leave()).toBe("");
    askAll("B");
    await settled();
    expect(began.join("")).toBe("AB");
    // 41 s after the beginning of its turn and 61 s: of the 25 s, 24 s and then 4 s lie in the last minute.
    clock.advance(16_000);
    await settled();
    expect(turns.isSpent("A")).toBe(true);
    clock.advance(40_000);
    expect(turns.isSpent("A")).toBe(false);
    await until(() => began.join("") === "ABA", "the account has its turn");
  });

  it("counts also while a turn lasts", async () => {
    const { askAll, began, clock, settled, turns } = scene({ slots: 3, budgetMs: 20_000 });
    askAll("A");
    await settled();
    clock.advance(20_000);
    askAll("A");
    await settled();
    expect(began.join("")).toBe("A");
    expect(turns.isSpent("A")).toBe(true);
    expect(turns.isSpent("B")).toBe(false);
  });
});
