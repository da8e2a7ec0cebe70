import { expect, it } from "vitest";
import { readProcessorMs, readThreadId } from "#probe-agent/threads/processor-time.ts";

it.skipIf(process.platform !== "linux")(
  "a thread's processor time grows while it works, and not while it waits",
  async () => {
    const id = readThreadId();
    expect(id).toBeGreaterThan(0);
    const before = readProcessorMs(id) ?? expect.fail("the kernel keeps no processor times");
    let sum = 0;
    for (const end = performance.now() + 200; performance.now() < end;) sum += Math.sqrt(sum);
    const worked = (readProcessorMs(id) ?? 0) - before;
    expect(worked).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((readProcessorMs(id) ?? 0) - before - worked).toBeLessThan(400);
  },
);

it("the processor time of a thread that is not known is null", () => {
  expect(readProcessorMs(0)).toBeNull();
  expect(readProcessorMs(999_999_999)).toBeNull();
});
