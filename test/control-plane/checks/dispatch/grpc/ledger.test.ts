import { expect, it } from "vitest";
import { createLedger } from "#control-plane/checks/dispatch/grpc/ledger.ts";

const LIMITS = { strangers: 4, strangersPerAddress: 2, agents: 3, connectionsPerAgent: 2 };
const FREE = { ok: true, displaced: null };

it("strangers have a maximum number of slots for each address and in total", () => {
  const ledger = createLedger(LIMITS);
  expect(ledger.open("a1", "a", 0)).toEqual(FREE);
  expect(ledger.open("a2", "a", 0)).toEqual(FREE);
  expect(ledger.open("a3", "a", 0)).toEqual({ ok: false, reason: "address" });
  expect(ledger.open("b1", "b", 0)).toEqual(FREE);
  expect(ledger.open("c1", "c", 0)).toEqual(FREE);
  expect(ledger.open("d1", "d", 0)).toEqual({ ok: false, reason: "strangers" });
  ledger.close("a1");
  expect(ledger.open("d1", "d", 0)).toEqual(FREE);
  expect(ledger.counts()).toEqual({ strangers: 4, agents: 0 });
});

it("a new connection displaces the oldest stranger after a second", () => {
  const ledger = createLedger(LIMITS);
  ledger.open("a1", "a", 0);
  ledger.open("a2", "a", 500);
  expect(ledger.open("a3", "a", 999)).toEqual({ ok: false, reason: "address" });
  expect(ledger.open("a3", "a", 1_000)).toEqual({ ok: true, displaced: "a1" });
  expect(ledger.open("a4", "a", 1_400)).toEqual({ ok: false, reason: "address" });
  ledger.open("b1", "b", 1_400);
  ledger.open("b2", "b", 1_400);
  expect(ledger.open("c1", "c", 1_600)).toEqual({ ok: true, displaced: "a2" });
  expect(ledger.counts()).toEqual({ strangers: 4, agents: 0 });
});

it("agents are counted separately from strangers, each by its id", () => {
  const ledger = createLedger(LIMITS);
  for (const key of ["one", "two", "three", "four"]) {
    ledger.open(key, "nat", 0);
    const noPlace = ledger.identify(key, key === "four" ? "agent-4" : "agent-1");
    expect(noPlace).toBe(key === "three" ? "agent" : null);
    if (noPlace !== null) ledger.close(key);
  }
  expect(ledger.counts()).toEqual({ strangers: 0, agents: 3 });
  ledger.open("five", "nat", 0);
  expect(ledger.identify("five", "agent-5")).toBe("agents");
  ledger.close("one");
  expect(ledger.identify("five", "agent-1")).toBe(null);
});
