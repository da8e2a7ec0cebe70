import { expect } from "vitest";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { createManualClock } from "#test/support/clock.ts";

/** Returns when a replica has last noted that the service lives, in Unix milliseconds. */
export async function livedAt(sql: Queryable): Promise<number> {
  const [row] = await sql<{ at: Date }[]>`select at from service_liveness`;
  return row?.at.getTime() ?? 0;
}

/** Advances the time in steps in which a replica notes that the service lives, so that it sees no outage of its own. */
export async function advanceAlive(
  sql: Queryable,
  clock: ReturnType<typeof createManualClock>,
  ms: number,
): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    clock.advance(Math.min(left, 5_000));
    await expect.poll(() => livedAt(sql)).toBeGreaterThan(clock.now().getTime() - 5_000);
  }
}
