import { expect } from "vitest";

/** What a busy machine may take longer than a quiet one. */
const BUSY = 10;

/**
 * Runs something that the product ends at a deadline of its own (a timeout, a budget, a limit on rounds; milliseconds),
 * and fails if that end took more than ten times as long: then something other than the deadline ended it.
 */
export async function endsBy<Result>(deadlineMs: number, run: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const result = await run();
  expect(performance.now() - startedAt, `ends by its deadline of ${deadlineMs} ms`).toBeLessThan(deadlineMs * BUSY);
  return result;
}
