import { describe, expect, it } from "vitest";
import { FAKETIME, SCENARIOS } from "#test/fleet/monitors/scenarios.ts";

// The short form of test/fleet/monitors: intervals of 15 s, which no plan allows, so that a minute has many checks. The
// scenarios run one after the other: of five at once each has too little of two cores, and a check that begins an interval
// late has another result than the judge of the history expects.
const SIZE = { seed: 20_261_101, monitors: 150, intervalSeconds: 15 };
/** Starting, the scenario, and the time until everything that it disturbed is settled and mailed. */
const LIMIT_MS = 420_000;

describe("the history of monitors is complete and right", () => {
  const cases: readonly (readonly [what: string, name: string, seconds: number])[] = [
    ["while replicas are killed, and monitors are deleted, changed and paused", "kills", 60],
    ["while the database restarts, stalls and is cut off", "database", 80],
    ...(FAKETIME === undefined ? [] : [["while clocks jump by hours", "clocks", 60] as const]),
  ];
  if (FAKETIME === undefined) console.warn("libfaketime is not installed (Debian: libfaketime): no clocks jump");

  it.each(cases)(
    "%s",
    async (_what, name, seconds) => {
      const scenario = SCENARIOS[name];
      if (scenario === undefined) throw new Error(`no scenario ${name}`);
      const { verdict } = await scenario.run({ ...SIZE, seconds });
      expect(verdict.examples).toEqual([]);
      // Everything that the rules are about has happened.
      for (const count of ["checks", "simultaneous", "transitions", "incidents", "events", "mails"] as const) {
        expect(verdict[count], count).toBeGreaterThan(0);
      }
    },
    LIMIT_MS,
  );

  it(
    "while the only replica is dead for longer than an interval: all monitors are checked in order, each once before any twice",
    async () => {
      const size = { ...SIZE, monitors: 300 };
      const { verdict, figures } = (await SCENARIOS["restart"]?.run({ ...size, seconds: 0 })) ?? {};
      expect(verdict?.examples).toEqual([]);
      expect(figures).toMatchObject({ scheduleEntries: size.monitors });
      // A check that a busy probe declined is late by itself. In another order, half of them would be.
      expect(figures?.["outOfOrder"]).toBeLessThan(size.monitors / 20);
      // However long the catch-up takes: who has waited longest comes before those that are due for the second time.
      expect(figures).toMatchObject({ overtaken: 0 });
    },
    LIMIT_MS,
  );
});
