import { describe, expect, it } from "vitest";
import { findImpatience } from "#test/laws/patience.ts";
import { parseSourceFile, readSourceFiles } from "#test/laws/source-files.ts";

const findIn = (text: string) => findImpatience([parseSourceFile("test/lab/a.test.ts", `${text}\n`)]);

describe("a test", () => {
  it("judges nothing by the speed of the machine, and waits as long as it takes", () => {
    expect(findImpatience(readSourceFiles(["test"]))).toEqual([]);
  });

  it.each([
    ["reads a clock", "const started = performance.now();"],
    ["reads the product's clock", "const started = systemClock.monotonic();"],
    ["compares two times", "expect(Date.now() - started).toBe(1);"],
    ["limits what a run took", "expect(took).toBeLessThan(limit);"],
    ["limits a time that the product reports of itself", "expect(one.elapsed_ms / two.elapsed_ms).toBeLessThan(10);"],
    ["compares with an interval", "expect(figures.all).toBeLessThan(size.intervalSeconds);"],
    ["compares with a limit of its own", "expect(await confirmed(id)).toBeLessThan(INTERVAL_MS);"],
    ["reads its memory", "process.memoryUsage().rss;"],
    ["reads its CPU time", "process.threadCpuUsage();"],
    ["sets a short limit for a test", 'it("waits", async () => {\n}, 60_000);'],
    ["sets a short limit for a table", 'it.each(rows)(\n  "waits",\n  async () => {\n  },\n  60_000,\n);'],
    ["sets a short limit for a file", "vi.setConfig({ testTimeout: 60_000 });"],
    ["sets a short limit for a wait", "await expect.poll(read, { timeout: 10_000 }).toBe(1);"],
    ["waits by a helper with a short limit", "await vi.waitFor(() => expect(read()).toBe(1));"],
  ])("that %s is found", (_what, text) => {
    expect(findIn(text)).not.toEqual([]);
  });

  it.each([
    ["makes an input of the current time", "const at = new Date(Date.now() + 1_000);"],
    ["hands in a clock", "const clock = { now, monotonic: () => elapsed };"],
    ["sets a longer limit", 'it("waits", async () => {\n}, 600_000);'],
    ["compares with what a link of the lab takes", "expect(rtt).toBeLessThan(SECOND_SYN_MS);"],
    ["counts", "expect(figures.outOfOrder).toBeLessThan(size.monitors / 20);"],
    ["names a clock in a text", 'const text = "performance.now()";'],
  ])("that %s is not", (_what, text) => {
    expect(findIn(text)).toEqual([]);
  });
});
