import { expect, it } from "vitest";
import { MAX_PROGRESS_BYTES } from "#shared/protocol/wire.ts";
import { progressMessage } from "#probe-agent/attachment/job-pool.ts";
import { createRunningJobs } from "#probe-agent/attachment/running-jobs.ts";

const stream = () => ({ say: () => {}, sayInTurn: () => Promise.resolve() });

it("counts the running jobs of each stream", () => {
  const [one, other] = [stream(), stream()];
  const jobs = createRunningJobs();
  for (const [key, source] of [
    ["a/1", one],
    ["b/1", one],
    ["c/1", other],
  ] as const) {
    jobs.add(key, { abort: new AbortController(), source, tool: "ping" });
  }
  expect([jobs.count(), jobs.count(one), jobs.count(other)]).toEqual([3, 2, 1]);
  expect(jobs.of(one).map(([key]) => key)).toEqual(["a/1", "b/1"]);
  expect(jobs.remove("a/1")).toMatchObject({ tool: "ping" });
  expect(jobs.remove("a/1")).toBeNull();
  expect([jobs.count(), jobs.count(one), jobs.has("a/1")]).toEqual([2, 1, false]);
});

it("refuses to send progress above the limit of the stream", () => {
  const job = { jobId: "one", attempt: 2 };
  expect(progressMessage(job, { kind: "hop", data: [1] })).toEqual({
    body: { $case: "progress", value: { ...job, kind: "hop", data: "[1]" } },
  });
  expect(progressMessage(job, { kind: "hop", data: "x".repeat(MAX_PROGRESS_BYTES) })).toBe("too_large");
});
