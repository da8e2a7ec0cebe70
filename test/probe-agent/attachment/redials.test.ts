import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRedials, type Redials, type StreamEnd } from "#probe-agent/attachment/redials.ts";

const FAILED: StreamEnd = { wasAttached: false, duplicate: false };
const LOST: StreamEnd = { wasAttached: true, duplicate: false };
const DUPLICATE: StreamEnd = { wasAttached: false, duplicate: true };

let due: StreamEnd[];
let redials: Redials;

beforeEach(() => {
  vi.useFakeTimers();
  due = [];
  redials = createRedials({ bytes: (count) => new Uint8Array(count) }, (end) => due.push(end));
});
afterEach(() => {
  redials.stop();
  vi.useRealTimers();
});

it("waits longer after each failed dial of an address, and separately for each address", () => {
  expect([1, 2, 3].map(() => redials.failed("a:1", FAILED))).toEqual([500, 1_000, 2_000]);
  expect(redials.failed("b:1", FAILED)).toBe(500);
});

it("starts at the shortest wait again after a welcome, and after the loss of an attached stream", () => {
  for (let dial = 0; dial < 3; dial += 1) redials.failed("a:1", FAILED);
  redials.succeeded("a:1");
  expect(redials.failed("a:1", FAILED)).toBe(500);
  redials.failed("a:1", FAILED);
  expect(redials.failed("a:1", LOST)).toBe(500);
});

it("hunts every second, without back-off, where an address leads to a replica that is attached already", () => {
  expect([1, 2, 3].map(() => redials.failed("lb:1", DUPLICATE))).toEqual([1_000, 1_000, 1_000]);
});

it("reports how the stream ended after the wait, and does not dial before", () => {
  redials.failed("a:1", LOST);
  vi.advanceTimersByTime(499);
  expect([redials.isWaiting("a:1"), redials.isWaiting("b:1"), due]).toEqual([true, false, []]);
  vi.advanceTimersByTime(1);
  expect([redials.isWaiting("a:1"), due]).toEqual([false, [LOST]]);
});

it("reports nothing once it is stopped", () => {
  redials.failed("a:1", FAILED);
  redials.stop();
  vi.advanceTimersByTime(60_000);
  expect(due).toEqual([]);
});
