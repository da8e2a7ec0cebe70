import { expect, it } from "vitest";
import { createStallCheck } from "#probe-agent/net/icmp/stall.ts";

it("a socket has stopped sending when three looks find the same packet unsent", () => {
  const isStalled = createStallCheck();
  expect([isStalled(5), isStalled(5), isStalled(5)]).toEqual([false, false, true]);
});

it("but not because much time has passed between two looks of a process without processor time", () => {
  const isStalled = createStallCheck();
  expect([isStalled(0), isStalled(60_000), isStalled(60_000), isStalled(null)]).toEqual([false, false, false, false]);
  expect([isStalled(60_000), isStalled(60_000)]).toEqual([false, false]);
});
