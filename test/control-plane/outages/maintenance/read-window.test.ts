import { describe, expect, it } from "vitest";
import { readWindow } from "#control-plane/outages/maintenance/read-window.ts";
import type { Given } from "#control-plane/outages/maintenance/resource.ts";
import type { WindowSettings } from "#control-plane/outages/maintenance/window.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const ONCE: Given = {
  title: "t",
  monitor_ids: [1],
  starts_at: "2026-03-02T00:00:00Z",
  ends_at: "2026-03-02T01:00:00Z",
};
const WEEKLY: Given = {
  title: "t",
  tags: ["db"],
  starts_at: "2026-03-07T02:00:00",
  duration_seconds: 3_600,
  rrule: "FREQ=WEEKLY",
  timezone: "Europe/Berlin",
};

function read(given: Given, current: WindowSettings | null = null): WindowSettings {
  const result = readWindow(given, current, NOW);
  if (!result.ok) throw new Error(`${result.problem.field}: ${result.problem.message}`);
  return result.value;
}

function refusal(given: Given, current: WindowSettings | null = null) {
  const result = readWindow(given, current, NOW);
  return result.ok ? null : [result.problem.field, result.problem.reason];
}

describe("a new window", () => {
  it("is open once, from a start to an end or for a time", () => {
    const expected = {
      title: "t",
      monitorIds: [1],
      tags: [],
      startsAt: new Date("2026-03-02T00:00:00Z"),
      durationSeconds: 3_600,
      rrule: null,
      timezone: "UTC",
      isPublic: false,
      isCancelled: false,
    };
    expect(read(ONCE)).toEqual(expected);
    expect(read({ ...ONCE, ends_at: null, duration_seconds: 3_600 })).toEqual(expected);
  });

  it("reads times without an offset in its time zone, and times with one as they are", () => {
    const startOf = (starts_at: string, timezone: string) =>
      read({ ...WEEKLY, starts_at, timezone }).startsAt.toISOString();
    expect(startOf("2026-07-04T02:00", "Europe/Berlin")).toBe("2026-07-04T00:00:00.000Z");
    expect(startOf("2026-07-04T02:00:00.999", "America/New_York")).toBe("2026-07-04T06:00:00.000Z");
    expect(startOf("2026-07-04T02:00:00-01:30", "America/New_York")).toBe("2026-07-04T03:30:00.000Z");
    expect(startOf("2026-07-04t02:00:00z", "America/New_York")).toBe("2026-07-04T02:00:00.000Z");
    expect(startOf("2026-10-25T02:30:00", "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
  });

  it.each<[string, Given, readonly string[]]>([
    ["an unknown time zone", { ...ONCE, timezone: "Mars/Olympus" }, ["timezone", "enum"]],
    ["an offset as time zone", { ...ONCE, timezone: "+02:00" }, ["timezone", "enum"]],
    ["no monitor and no tag", { ...ONCE, monitor_ids: [], tags: [] }, ["monitor_ids", "required"]],
    ["a tag with other characters", { ...ONCE, tags: ["ok", "Über"] }, ["tags.1", "type"]],
    ["an empty tag", { ...ONCE, tags: [""] }, ["tags.0", "type"]],
    ["a start that is no time", { ...ONCE, starts_at: "tomorrow at noon" }, ["starts_at", "type"]],
    ["a day that does not exist", { ...ONCE, starts_at: "2026-02-30T00:00:00Z" }, ["starts_at", "type"]],
    ["an hour that does not exist", { ...ONCE, starts_at: "2026-03-02T24:00:00Z" }, ["starts_at", "type"]],
    ["a year far away", { ...ONCE, starts_at: "9999-03-02T00:00:00Z" }, ["starts_at", "type"]],
    ["a time that clocks skip", { ...WEEKLY, starts_at: "2026-03-29T02:30:00" }, ["starts_at", "type"]],
    ["an end that is no time", { ...ONCE, ends_at: "2026-03-02 01:00" }, ["ends_at", "type"]],
    ["an end before its start", { ...ONCE, ends_at: "2026-03-01T23:00:00Z" }, ["ends_at", "range"]],
    ["less than a minute", { ...ONCE, ends_at: "2026-03-02T00:00:59Z" }, ["ends_at", "range"]],
    ["more than 30 days", { ...ONCE, ends_at: "2026-04-01T00:00:01Z" }, ["ends_at", "range"]],
    ["no end", { ...ONCE, ends_at: null }, ["ends_at", "required"]],
    ["an end and a duration", { ...ONCE, duration_seconds: 60 }, ["duration_seconds", "unknown"]],
    ["an end with a rule", { ...WEEKLY, ends_at: "2026-03-09T00:00:00Z" }, ["ends_at", "unknown"]],
    ["a rule without a duration", { ...WEEKLY, duration_seconds: null }, ["duration_seconds", "required"]],
    ["a rule that is none", { ...WEEKLY, rrule: "weekly" }, ["rrule", "type"]],
    ["a rule that never occurs", { ...WEEKLY, rrule: "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30" }, ["rrule", "range"]],
    ["a rule that is over", { ...WEEKLY, rrule: "FREQ=DAILY;UNTIL=20260306" }, ["rrule", "range"]],
    [
      "an end in the past",
      { ...ONCE, starts_at: "2026-03-01T10:00:00Z", ends_at: "2026-03-01T12:00:00Z" },
      ["ends_at", "range"],
    ],
  ])("with %s is refused", (_what, given, expected) => {
    expect(refusal(given)).toEqual(expected);
  });

  it("can have started already", () => {
    expect(refusal({ ...ONCE, starts_at: "2026-03-01T10:00:00Z", ends_at: "2026-03-01T12:01:00Z" })).toBeNull();
    expect(refusal({ ...WEEKLY, starts_at: "2020-03-07T02:00:00" })).toBeNull();
  });
});

describe("a change", () => {
  const once = read(ONCE);
  const weekly = read(WEEKLY);

  it("keeps every field that is not given", () => {
    expect(read({}, once)).toEqual(once);
    expect(read({}, weekly)).toEqual(weekly);
    expect(read({ title: "u", public: true }, weekly)).toEqual({ ...weekly, title: "u", isPublic: true });
  });

  it("of the start alone keeps the end of a window that is open once", () => {
    expect(read({ starts_at: "2026-03-02T00:30:00Z" }, once).durationSeconds).toBe(1_800);
    expect(refusal({ starts_at: "2026-03-02T01:00:00Z" }, once)).toEqual(["ends_at", "range"]);
    expect(read({ starts_at: "2026-03-02T10:00:00Z", duration_seconds: 60 }, once).durationSeconds).toBe(60);
    expect(read({ starts_at: "2026-03-14T02:00:00" }, weekly).durationSeconds).toBe(3_600);
  });

  it("adds a rule, which keeps the duration, and takes it away", () => {
    expect(read({ rrule: "FREQ=DAILY" }, once)).toEqual({ ...once, rrule: "FREQ=DAILY" });
    expect(read({ rrule: null }, weekly)).toEqual({ ...weekly, rrule: null });
    expect(refusal({ ends_at: "2026-03-09T00:00:00Z" }, weekly)).toEqual(["ends_at", "unknown"]);
  });

  it("of a window that is over can be one of its title, but not of its times to others in the past", () => {
    const over = { ...once, startsAt: new Date("2026-02-01T00:00:00Z") };
    expect(read({ title: "u" }, over).title).toBe("u");
    const sentBack = { starts_at: "2026-02-01T00:00:00.000Z", ends_at: "2026-02-01T01:00:00.000Z" };
    expect(read(sentBack, over)).toEqual(over);
    expect(refusal({ ends_at: "2026-02-01T02:00:00Z" }, over)).toEqual(["ends_at", "range"]);
    expect(read({ ends_at: "2026-03-02T01:00:00Z", starts_at: "2026-03-02T00:00:00Z" }, over)).toEqual(once);
  });

  it("cancels and takes it back by these two words alone", () => {
    const cancelled = read({ status: "cancelled" }, weekly);
    expect(cancelled).toEqual({ ...weekly, isCancelled: true });
    for (const status of ["in_progress", "completed", "cancelled"] as const) {
      expect(read({ status }, cancelled).isCancelled).toBe(true);
    }
    expect(read({ status: "completed" }, weekly)).toEqual(weekly);
    expect(read({ status: "scheduled" }, cancelled)).toEqual(weekly);
  });

  it("does not take back the cancellation of a window that is over", () => {
    const over = { ...once, startsAt: new Date("2026-02-01T00:00:00Z"), isCancelled: true };
    expect(refusal({ status: "scheduled" }, over)).toEqual(["ends_at", "range"]);
    expect(read({ title: "u" }, over).isCancelled).toBe(true);
  });

  it("is possible without monitors if they were deleted, but cannot remove the last one", () => {
    const bare = { ...once, monitorIds: [] };
    expect(read({ title: "u" }, bare).title).toBe("u");
    expect(refusal({ monitor_ids: [] }, once)).toEqual(["monitor_ids", "required"]);
    expect(read({ monitor_ids: [], tags: ["db"] }, once)).toEqual({ ...once, monitorIds: [], tags: ["db"] });
    expect(read({ monitor_ids: [2, 1, 2], tags: ["b", "a", "b"] }, once)).toMatchObject({
      monitorIds: [2, 1],
      tags: ["b", "a"],
    });
  });
});
