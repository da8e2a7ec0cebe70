import { availableParallelism } from "node:os";

/** Returns how many files of a suite run at a time: as many as the gate found room for (TEST_WORKERS), at most `most`. */
export function workers(most: number): number {
  return Math.min(most, Number(process.env["TEST_WORKERS"] ?? availableParallelism() + 1));
}
