import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { readProcessorMs, readThreadId } from "#probe-agent/threads/processor-time.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

/** The kernel counts in steps of 10 ms, and takes the two times one after the other. */
const EXACT_TO_MS = 100;

it.skipIf(process.platform !== "linux")(
  "a thread's processor time grows while it works, and not while it waits",
  async () => {
    const id = readThreadId();
    expect(id).toBeGreaterThan(0);
    const before = readProcessorMs(id) ?? expect.fail("the kernel keeps no processor times");
    const used = cpuTime();
    const differences = () => Math.abs((readProcessorMs(id) ?? 0) - before - (cpuTime() - used));
    let sum = 0;
    while (cpuTime() - used < 200) sum += Math.sqrt(sum);
    expect((readProcessorMs(id) ?? 0) - before).toBeGreaterThan(EXACT_TO_MS);
    expect(differences()).toBeLessThan(EXACT_TO_MS);
    await sleep(500);
    expect(differences()).toBeLessThan(EXACT_TO_MS);
  },
);

it("the processor time of a thread that is not known is null", () => {
  expect(readProcessorMs(0)).toBeNull();
  expect(readProcessorMs(999_999_999)).toBeNull();
});
