import { expect, it } from "vitest";
import { createRestartWait } from "#probe-agent/net/icmp/host-jobs.ts";

it("doubles the wait up to the longest one", () => {
  const wait = createRestartWait({ first: 250, longest: 1_500 });
  expect([5, 5, 5, 5, 5].map((livedMs) => wait(livedMs))).toEqual([250, 500, 1_000, 1_500, 1_500]);
});

it("starts again with the first wait after a process that lived a minute", () => {
  const wait = createRestartWait({ first: 250, longest: 15_000 });
  expect([5, 5, 59_999, 60_000, 5].map((livedMs) => wait(livedMs))).toEqual([250, 500, 1_000, 250, 500]);
});
