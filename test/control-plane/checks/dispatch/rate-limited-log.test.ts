import { expect, it } from "vitest";
import { createRateLimitedLog } from "#control-plane/checks/dispatch/rate-limited-log.ts";

it("the log writes its maximum of lines in a window, then the number of suppressed ones, and starts again", async () => {
  const lines: [object, string][] = [];
  const log = createRateLimitedLog({ warn: (fields, message) => void lines.push([fields, message]) }, 2, 50);
  for (let line = 1; line <= 5; line += 1) log.warn({ line }, "rejected");
  expect(lines.map(([fields]) => fields)).toEqual([{ line: 1 }, { line: 2 }]);
  await expect.poll(() => lines).toHaveLength(3);
  expect(lines[2]?.[0]).toEqual({ left_out: 3 });
  log.warn({ line: 6 }, "rejected");
  expect(lines[3]?.[0]).toEqual({ line: 6 });
  log.close();
});
