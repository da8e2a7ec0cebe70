import { expect, it } from "vitest";
import { followWrites, type WriteProgress, type WriteSample } from "#shared/process/write-progress.ts";

/** Returns the number of checks without progress after each sample: octets taken so far, null if nothing waits. */
function quietChecks(taken: readonly (number | null)[]): (number | undefined)[] {
  let progress: WriteProgress | undefined;
  return taken.map((octets) => {
    const sample: WriteSample = { isWaiting: octets !== null, taken: octets ?? 0 };
    progress = followWrites(progress, sample);
    return progress?.quietChecks;
  });
}

it("counts the checks since octets began to wait, or since one was taken", () => {
  expect(quietChecks([10, 10, 10, 11, 11, 12])).toEqual([0, 1, 2, 0, 1, 0]);
});

it("forgets a connection without waiting octets", () => {
  expect(quietChecks([10, 10, null, 10, 10])).toEqual([0, 1, undefined, 0, 1]);
});
