import { describe, expect, it } from "vitest";
import { applyPing, type HeartbeatRecord } from "#control-plane/watching/heartbeats/apply-ping.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";

const SETTINGS: HeartbeatSettings = {
  period_seconds: 600,
  grace_seconds: 60,
  cron: null,
  timezone: "UTC",
  methods: "any",
};

const NEW: HeartbeatRecord = {
  pingCount: 0,
  lastPingAt: null,
  lastKind: null,
  lastDurationMs: null,
  succeededAt: null,
  openRuns: [],
  deadlineAt: null,
  verdicts: [],
};

const ping = (kind: Ping["kind"], receivedAt: number, over: Partial<Ping> = {}): Ping => ({
  kind,
  receivedAt,
  exitCode: null,
  rid: null,
  method: "GET",
  remoteAddr: "192.0.2.1",
  userAgent: null,
  body: null,
  isBodyTruncated: false,
  ...over,
});

/** Applies pings one after the other and returns the last result. */
function applyAll(...pings: readonly Ping[]) {
  let record = NEW;
  let last = null;
  for (const one of pings) {
    last = applyPing(record, SETTINGS, one);
    ({ record } = last);
  }
  if (last === null) throw new Error("no ping");
  return last;
}

describe("a success", () => {
  it("makes the next ping due after the period and the grace time", () => {
    const { verdict, record } = applyAll(ping("success", 1_000));
    expect(verdict).toBe("up");
    expect(record).toEqual({
      ...NEW,
      pingCount: 1,
      lastPingAt: 1_000,
      lastKind: "success",
      succeededAt: 1_000,
      deadlineAt: 661_000,
    });
  });

  it("is what exit code 0 means", () => {
    expect(applyAll(ping("exit", 5, { exitCode: 0 })).verdict).toBe("up");
  });

  it("that arrived earlier than one that was recorded before it changes only the list of pings", () => {
    const { verdict, record } = applyAll(ping("success", 9_000), ping("fail", 8_999));
    expect(verdict).toBeNull();
    expect(record).toMatchObject({ pingCount: 2, succeededAt: 9_000, deadlineAt: 669_000, lastPingAt: 9_000 });
  });
});

describe("a failure", () => {
  it("is down at once, says why, and ends what was expected", () => {
    const { verdict, fault, record } = applyAll(ping("success", 0), ping("exit", 7, { exitCode: 137 }));
    expect(verdict).toBe("down");
    expect(fault).toEqual({
      stage: "request",
      source: "target",
      reason: "heartbeat_failed",
      message: "the run failed with exit code 137",
    });
    expect(record.deadlineAt).toBeNull();
    expect(applyAll(ping("fail", 7)).fault?.message).toBe("the run reported a failure");
  });

  it("is followed by a deadline again after the next success", () => {
    expect(applyAll(ping("fail", 0), ping("success", 1_000)).record.deadlineAt).toBe(661_000);
  });
});

describe("a start", () => {
  it("says nothing about the status, and brings the deadline forward to the start and the grace time", () => {
    const { verdict, record } = applyAll(ping("success", 0), ping("start", 100_000));
    expect(verdict).toBeNull();
    expect(record.deadlineAt).toBe(160_000);
  });

  it("does not put off a deadline that is earlier", () => {
    expect(applyAll(ping("success", 0), ping("start", 640_000)).record.deadlineAt).toBe(660_000);
  });

  it("is what the duration of the run counts from", () => {
    const { record, durationMs } = applyAll(ping("start", 100), ping("success", 4_100));
    expect(durationMs).toBe(4_000);
    expect(record).toMatchObject({ lastDurationMs: 4_000, openRuns: [], deadlineAt: 664_100 });
  });

  it("of another run keeps its own deadline when a run ends", () => {
    const { record } = applyAll(
      ping("start", 0, { rid: "a" }),
      ping("start", 1_000, { rid: "b" }),
      ping("success", 2_000, { rid: "a" }),
    );
    expect(record.openRuns).toEqual([{ rid: "b", startedAt: 1_000 }]);
    expect(record.deadlineAt).toBe(61_000);
  });
});

describe("a start that is recorded after a success that arrived later", () => {
  it("opens no run, because its run can have ended", () => {
    const { record } = applyAll(ping("success", 9_000), ping("start", 8_999));
    expect(record).toMatchObject({ pingCount: 2, openRuns: [], deadlineAt: 669_000 });
  });
});

describe("a success", () => {
  it("gives up runs that are overdue, and keeps those that still have time", () => {
    const { record } = applyAll(
      ping("start", 0, { rid: "crashed" }),
      ping("start", 40_001, { rid: "running" }),
      ping("success", 100_000, { rid: "other" }),
    );
    expect(record.openRuns).toEqual([{ rid: "running", startedAt: 40_001 }]);
    expect(record.deadlineAt).toBe(100_001);
  });
});

describe("a log", () => {
  it("changes neither the status, nor the deadline, nor the open run", () => {
    const { verdict, record } = applyAll(ping("start", 0), ping("log", 5_000));
    expect(verdict).toBeNull();
    expect(record).toMatchObject({ lastKind: "log", lastPingAt: 5_000, deadlineAt: 60_000 });
    expect(record.openRuns).toHaveLength(1);
  });
});

describe("two pings in one millisecond", () => {
  it("count as two, in their order", () => {
    const { verdict, record } = applyAll(ping("success", 77), ping("fail", 77));
    expect(verdict).toBe("down");
    expect(record).toMatchObject({ pingCount: 2, lastKind: "fail" });
    expect(applyAll(ping("fail", 77), ping("success", 77)).verdict).toBe("up");
  });
});
