import { describe, expect, it } from "vitest";
import { deadline, openSchedule, type Expectation } from "#control-plane/heartbeats/deadline.ts";

const SIMPLE: Expectation = {
  last_ping: null,
  last_start: null,
  period_seconds: 3_600,
  grace_seconds: 60,
  cron: null,
  timezone: "UTC",
};
const at = (text: string) => new Date(text);

describe("deadline", () => {
  it("does not exist before the first ping", () => {
    expect(deadline(SIMPLE)).toBeNull();
    expect(deadline({ ...SIMPLE, cron: "0 3 * * *" })).toBeNull();
  });

  it("is one period and the grace time after the last ping, to the millisecond", () => {
    const last_ping = at("2026-11-23T10:00:00.123Z");
    expect(deadline({ ...SIMPLE, last_ping })).toEqual(at("2026-11-23T11:01:00.123Z"));
    expect(deadline({ ...SIMPLE, last_ping, grace_seconds: 0 })).toEqual(at("2026-11-23T11:00:00.123Z"));
  });

  it("is the next run of cron in its zone and the grace time", () => {
    const cron = { ...SIMPLE, cron: "0 3 * * *", timezone: "Europe/Berlin", grace_seconds: 600 };
    expect(deadline({ ...cron, last_ping: at("2026-11-23T02:00:00Z") })).toEqual(at("2026-11-24T02:10:00Z"));
    expect(deadline({ ...cron, last_ping: at("2026-11-23T01:59:59.999Z") })).toEqual(at("2026-11-23T02:10:00Z"));
    expect(deadline({ ...cron, cron: "30 2 * * *", last_ping: at("2026-03-28T12:00:00Z") })).toEqual(
      at("2026-03-29T01:10:00Z"),
    );
  });

  it("is the grace time after the start of an open run if that is earlier", () => {
    const open = { ...SIMPLE, last_start: at("2026-11-23T10:30:00Z") };
    expect(deadline(open)).toEqual(at("2026-11-23T10:31:00Z"));
    expect(deadline({ ...open, last_ping: at("2026-11-23T10:00:00Z") })).toEqual(at("2026-11-23T10:31:00Z"));
    expect(deadline({ ...open, last_ping: at("2026-11-23T09:00:00Z") })).toEqual(at("2026-11-23T10:01:00Z"));
  });

  it("reports a schedule that was never valid as a bug", () => {
    const last_ping = at("2026-11-23T10:00:00Z");
    expect(() => deadline({ ...SIMPLE, last_ping, cron: "nonsense" })).toThrow("not a schedule: nonsense in UTC");
    expect(() => deadline({ ...SIMPLE, last_ping, cron: "0 3 * * *", timezone: "Mars/Base" })).toThrow("Mars/Base");
  });
});

describe("a schedule", () => {
  it("is parsed once for each expression and zone, and is not that of another zone", () => {
    const berlin = openSchedule("30 2 * * *", "Europe/Berlin");
    expect(openSchedule("30 2 * * *", "Europe/Berlin")).toBe(berlin);
    const utc = openSchedule("30 2 * * *", "UTC");
    expect(utc?.nextRun(0)).toBe(9_000_000);
    expect(berlin?.nextRun(0)).toBe(5_400_000);
    expect(openSchedule("30 3 * * *", "UTC")?.nextRun(0)).toBe(12_600_000);
  });

  it("that is not valid is not valid the second time either", () => {
    for (let time = 0; time < 2; time += 1) {
      expect(openSchedule("30 2 30 2 *", "UTC")).toBeNull();
      expect(openSchedule("30 2 * * *", "Mars/Base")).toBeNull();
    }
  });
});
