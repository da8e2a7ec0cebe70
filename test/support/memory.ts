import { expect } from "vitest";

/**
 * Runs something on hostile input, and fails if this process then holds `limit` octets more of memory of this kind than
 * before. Choose a limit far below what is sent, so that only a product that keeps all of it exceeds the limit.
 */
export async function growsAtMost<Result>(
  limit: number,
  run: () => Promise<Result>,
  kind: "rss" | "arrayBuffers" = "rss",
): Promise<Result> {
  const before = process.memoryUsage()[kind];
  const result = await run();
  expect(process.memoryUsage()[kind] - before, `grows by at most ${limit} octets`).toBeLessThan(limit);
  return result;
}
