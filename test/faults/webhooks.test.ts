import { expect, it } from "vitest";
import { FAULTS } from "#test/fleet/webhooks/faults.ts";
import { runRounds } from "#test/fleet/webhooks/run.ts";
import { findFaketime } from "#test/support/faketime.ts";

const SEED = 20_261_126;
/** With FAULTS=short each fault occurs once, but for the outage of half a minute. */
const IS_SHORT = process.env["FAULTS"] === "short";
const ROUNDS = 200;
/** The rounds, and the time until everything that they disturbed has ended. */
const LIMIT_MS = IS_SHORT ? 540_000 : 5_400_000;

it(
  "what is delivered to webhooks is complete and right, whatever is killed or lost",
  async () => {
    const hasFaketime = findFaketime() !== undefined;
    if (!hasFaketime) console.warn("libfaketime is not installed (Debian: libfaketime): no clock is wrong");
    const only = Object.keys(FAULTS).filter(
      (name) => (!IS_SHORT || name !== "long outage of the database") && (hasFaketime || !name.startsWith("clock")),
    );
    const verdict = await runRounds({ seed: SEED, rounds: IS_SHORT ? only.length : ROUNDS, only });
    expect(verdict.examples).toEqual([]);
    // Everything that the rules are about has happened.
    for (const count of ["events", "deliveries", "requests", "lost"] as const) {
      expect(verdict[count], count).toBeGreaterThan(0);
    }
    expect(Object.keys(verdict.statuses)).toContain("failed");
  },
  LIMIT_MS,
);
