import { describe, expect, it } from "vitest";
import {
  deadline,
  dueAfterSuccess,
  nextDue,
  openSchedule,
  type Expectation,
} from "#control-plane/watching/heartbeats/deadline.ts";
import { seeded } from "#test/support/seeded.ts";

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
    expect(deadline({ ...cron, last_ping: at("2026-11-23T01:58:59.999Z") })).toEqual(at("2026-11-23T02:10:00Z"));
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

describe("a success before a run of cron", () => {
  const due = (cron: string, grace_seconds: number, succeededAt: string, timezone = "UTC"): string => {
    const found = dueAfterSuccess({ ...SIMPLE, cron, grace_seconds, timezone }, Date.parse(succeededAt));
    return new Date(found).toISOString().replace(".000Z", "Z");
  };

  it.each([
    // The limit is 60 s.
    ["0 3 * * *", 900, "2026-11-23T02:59:00.000Z", "2026-11-24T03:00:00Z"],
    ["0 3 * * *", 900, "2026-11-23T02:58:59.999Z", "2026-11-23T03:00:00Z"],
    ["0 3 * * *", 900, "2026-11-23T02:59:56.000Z", "2026-11-24T03:00:00Z"],
    // Half of the grace time.
    ["0 3 * * *", 60, "2026-11-23T02:59:30.000Z", "2026-11-24T03:00:00Z"],
    ["0 3 * * *", 60, "2026-11-23T02:59:29.999Z", "2026-11-23T03:00:00Z"],
    ["0 3 * * *", 1, "2026-11-23T02:59:59.500Z", "2026-11-24T03:00:00Z"],
    ["0 3 * * *", 1, "2026-11-23T02:59:59.499Z", "2026-11-23T03:00:00Z"],
    // A tenth of the time since the run before.
    ["* * * * *", 900, "2026-11-23T02:59:54.000Z", "2026-11-23T03:01:00Z"],
    ["* * * * *", 900, "2026-11-23T02:59:53.999Z", "2026-11-23T03:00:00Z"],
    ["*/5 * * * *", 900, "2026-11-23T02:59:30.000Z", "2026-11-23T03:05:00Z"],
    ["*/5 * * * *", 900, "2026-11-23T02:59:29.999Z", "2026-11-23T03:00:00Z"],
    // Of the run before this one, not of the one after it: 23:55, 00:00, and then a day.
    ["55 23,0 * * *", 900, "2026-11-23T23:54:00.000Z", "2026-11-24T00:55:00Z"],
    ["0,5 3 * * *", 900, "2026-11-23T03:04:30.000Z", "2026-11-24T03:00:00Z"],
    ["0,5 3 * * *", 900, "2026-11-23T03:04:29.999Z", "2026-11-23T03:05:00Z"],
    ["0,5 3 * * *", 900, "2026-11-23T02:59:00.000Z", "2026-11-23T03:05:00Z"],
    // At the run itself it is that run's.
    ["0 3 * * *", 900, "2026-11-23T03:00:00.000Z", "2026-11-24T03:00:00Z"],
  ])("%s with %i s of grace at %s is followed by the one at %s", (cron, grace, succeededAt, expected) => {
    expect(due(cron, grace, succeededAt)).toBe(expected);
  });

  it("counts for it at a change of the clocks too", () => {
    // 02:30 does not exist on that day: the run is at 01:00 UTC.
    expect(due("30 2 * * *", 900, "2026-03-29T00:59:30Z", "Europe/Berlin")).toBe("2026-03-30T00:30:00Z");
  });

  it("sets the deadline, as the grace time after the run that follows", () => {
    const cron = { ...SIMPLE, cron: "0 3 * * *", grace_seconds: 600, last_ping: at("2026-11-23T02:59:56Z") };
    expect(deadline(cron)).toEqual(at("2026-11-24T03:10:00Z"));
  });

  it("is without effect on a period", () => {
    expect(dueAfterSuccess(SIMPLE, 5)).toBe(3_600_005);
  });

  it("never moves what is due back, nor further than by one run", () => {
    const random = seeded(7);
    const crons = ["* * * * *", "*/7 * * * *", "0 */5 * * *", "0 3 * * *", "30 4 1,15 * 5", "5,9 1-3 */2 * 1"];
    for (const cron of crons) {
      for (let tried = 0; tried < 200; tried += 1) {
        const succeededAt = Date.UTC(2026, 10, 1) + (random() * 65_536 + random() * 256 + random()) * 311;
        const settings = { ...SIMPLE, cron, grace_seconds: 1 + random() * 3 };
        const next = nextDue(settings, succeededAt);
        const counted = dueAfterSuccess(settings, succeededAt);
        expect([next, nextDue(settings, next)]).toContain(counted);
      }
    }
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
