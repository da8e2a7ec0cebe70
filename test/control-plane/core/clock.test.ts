import { describe, expect, it } from "vitest";
import { createDatabaseClock } from "#control-plane/core/clock.ts";
import { createManualClock } from "#test/support/clock.ts";

const HOST_START = new Date("2026-03-01T00:00:00Z");

describe("the database's clock", () => {
  it("replaces the host's clock after the first measurement and continues by monotonic time", async () => {
    const host = createManualClock(HOST_START);
    const clock = createDatabaseClock({ host, readTime: async () => Date.parse("2026-03-01T01:00:00Z") });
    expect(clock.now()).toEqual(HOST_START);
    await clock.sync();
    host.advance(1_500);
    expect(clock.now().toISOString()).toBe("2026-03-01T01:00:01.500Z");
    expect(clock.offsetMs()).toBe(3_600_000);
  });

  it("corrects a measurement by half of the round trip, and ignores differences within it", async () => {
    const host = createManualClock(HOST_START);
    let database = 0;
    const clock = createDatabaseClock({
      host,
      readTime: async () => {
        host.advance(100);
        return database;
      },
    });
    database = 1_000_000;
    await clock.sync();
    // Sent at 0, received at 100: the database read its clock at about 50.
    expect(clock.now().getTime()).toBe(1_000_050);
    database = 1_000_130;
    await clock.sync();
    // A difference of 20 ms in a measurement with an accuracy of 50 ms: no step.
    expect(clock.now().getTime()).toBe(1_000_150);
    database = 1_005_000;
    await clock.sync();
    expect(clock.now().getTime()).toBe(1_005_000);
  });

  it("is not moved by an answer that is held back for seconds", async () => {
    const host = createManualClock(HOST_START);
    let [silencedMs, offset] = [0, 1_000];
    const clock = createDatabaseClock({
      host,
      readTime: async () => {
        const read = host.now().getTime() + offset;
        host.advance(silencedMs);
        return read;
      },
    });
    await clock.sync();
    // The clocks have drifted by a millisecond: by that the clock is outside the range of the measurement.
    [silencedMs, offset] = [3_000, 999];
    await clock.sync();
    expect(clock.offsetMs()).toBe(999);
  });

  it("continues without the database", async () => {
    const host = createManualClock(HOST_START);
    let away = false;
    const clock = createDatabaseClock({
      host,
      readTime: async () => {
        if (away) throw new Error("away");
        return 5_000;
      },
    });
    await clock.sync();
    away = true;
    await expect(clock.sync()).rejects.toThrow("away");
    host.advance(250);
    expect(clock.now().getTime()).toBe(5_250);
  });
});
