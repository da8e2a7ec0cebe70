import { describe, expect, it } from "vitest";
import { foldPings, type PingedHeartbeat } from "#control-plane/watching/heartbeats/fold-pings.ts";
import { judgeNext } from "#control-plane/watching/heartbeats/judge.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/watching/heartbeats/state-settings.ts";
import { decideSweep, nextSweep } from "#control-plane/watching/heartbeats/decide-sweep.ts";
import { type SilencedNotice, type MonitorState, NEW_STATE } from "#control-plane/outages/state/state.ts";
import { judgeAll, newHeartbeat, pingOf } from "#test/support/heartbeats/parts.ts";

const MINUTE = 60_000;
const SILENCED: SilencedNotice = { reason: "maintenance", previous: "up", endedAt: null };

/** Applies pings, of which each can change the state. */
function after(heartbeat: PingedHeartbeat, ...pings: readonly Ping[]): PingedHeartbeat {
  return judgeAll({ ...heartbeat, ...foldPings(heartbeat, pings) }).heartbeat;
}

function sweep(heartbeat: PingedHeartbeat, now: number, outageEndedAt: number | null = null) {
  return decideSweep({ ...heartbeat, outageEndedAt }, now);
}

function change(heartbeat: PingedHeartbeat, now: number, outageEndedAt: number | null = null) {
  const decided = sweep(heartbeat, now, outageEndedAt);
  if (decided.kind !== "change") throw new Error("the sweep changed nothing");
  return decided;
}

const up = after(newHeartbeat(), pingOf("success", 0));
const late = { ...up, state: change(up, 11 * MINUTE).transition.state };
const started = after(newHeartbeat(), pingOf("start", 1_000, { rid: "a" }));

describe("a sweep", () => {
  it.each<readonly [what: string, heartbeat: PingedHeartbeat, now: number, sweepAt: number | null]>([
    ["without a ping so far waits for the first", newHeartbeat(), 99 * MINUTE, null],
    ["before the deadline waits for it", up, 11 * MINUTE - 1, 11 * MINUTE],
    [
      "after a ping has moved the deadline waits for the new one",
      after(up, pingOf("success", MINUTE)),
      11 * MINUTE,
      12 * MINUTE,
    ],
    ["before the end of a run's grace time waits for it", started, 60_999, 61_000],
  ])("%s", (_what, heartbeat, now, sweepAt) => {
    expect(sweep(heartbeat, now)).toEqual({ kind: "wait", sweepAt });
    // Whether the service had an outage does not matter before the deadline.
    expect(sweep(heartbeat, now, now)).toEqual({ kind: "wait", sweepAt });
  });

  it("at the deadline makes the heartbeat down, however late the sweep is", () => {
    for (const now of [11 * MINUTE, 500 * MINUTE]) {
      const { at, deadlineAt, transition } = change(up, now);
      expect({ at, deadlineAt }).toEqual({ at: 11 * MINUTE, deadlineAt: 11 * MINUTE });
      expect(transition.state).toMatchObject({ status: "down", changedAt: 11 * MINUTE, knownSince: 11 * MINUTE });
      expect(transition.events).toMatchObject([
        { kind: "down", at: 11 * MINUTE, startedAt: 11 * MINUTE, previous: "up" },
      ]);
      expect(transition.state.locations.get(HEARTBEAT_LOCATION)?.fault).toMatchObject({
        source: "target",
        reason: "heartbeat_late",
        message: "no ping arrived by 1970-01-01 00:11:00 UTC",
      });
    }
  });

  it("after the clock was set back makes it down now, not at the time of a change that lies ahead", () => {
    const ahead = { ...up, state: { ...up.state, changedAt: 90 * MINUTE } };
    expect(change(ahead, 12 * MINUTE)).toMatchObject({
      at: 12 * MINUTE,
      transition: { state: { status: "down", changedAt: 12 * MINUTE } },
    });
  });

  it("at the end of a run's grace time says that the run did not finish", () => {
    const { at, transition } = change(started, 61_000);
    expect(at).toBe(61_000);
    expect(transition.events).toMatchObject([{ kind: "down", previous: "unknown", isNotice: true }]);
    expect(transition.state.locations.get(HEARTBEAT_LOCATION)?.fault).toMatchObject({
      reason: "heartbeat_unfinished",
      message: "the run that started at 1970-01-01 00:00:01 UTC did not finish within 60 s",
    });
  });

  it("says that no ping arrived if a run is open that still has time", () => {
    const open = after(up, pingOf("start", 11 * MINUTE - 500));
    expect(change(open, 11 * MINUTE).transition.state.locations.get(HEARTBEAT_LOCATION)?.fault?.reason).toBe(
      "heartbeat_late",
    );
  });

  it("after an outage of the service knows nothing, and waits one more grace time from its end", () => {
    const { at, deadlineAt, transition } = change(up, 13 * MINUTE, 12 * MINUTE);
    expect({ at, deadlineAt }).toEqual({ at: 11 * MINUTE, deadlineAt: 13 * MINUTE });
    expect(transition.state).toMatchObject({ status: "unknown", lastKnown: "up" });
    expect(transition.events).toMatchObject([{ kind: "unknown", previous: "up" }]);

    const silenced = { ...up, state: transition.state, record: { ...up.record, deadlineAt } };
    expect(sweep(silenced, 13 * MINUTE - 1)).toEqual({ kind: "wait", sweepAt: 13 * MINUTE });
    const down = change(silenced, 13 * MINUTE);
    expect(down.transition.events).toMatchObject([
      { kind: "down", at: 13 * MINUTE, startedAt: 13 * MINUTE, previous: "unknown", isNotice: true },
    ]);
    const pinged = judgeNext({ ...silenced, ...foldPings(silenced, [pingOf("success", 12.5 * MINUTE)]) });
    expect(pinged?.transition.events).toMatchObject([{ kind: "up", isNotice: false }]);
  });
});

describe("a sweep of a heartbeat that is down", () => {
  it("repeats the verdict, without an event and with the same fault", () => {
    const { at, deadlineAt, transition } = change(late, 20 * MINUTE);
    expect({ at, deadlineAt }).toEqual({ at: 20 * MINUTE, deadlineAt: 11 * MINUTE });
    expect(transition.events).toEqual([]);
    const [before, now] = [late.state, transition.state].map(({ locations }) => locations.get(HEARTBEAT_LOCATION));
    expect(now).toMatchObject({ verdict: "down", at: 11 * MINUTE, since: 11 * MINUTE, fault: before?.fault });
  });

  it.each([
    ["that is late", late],
    ["that reported a failure", after(up, pingOf("fail", 11 * MINUTE))],
  ])("%s leaves a success its time that arrived before and is recorded after it", (_what, down) => {
    const swept = { ...down, state: change(down, 20 * MINUTE).transition.state };
    const made = judgeNext({ ...swept, ...foldPings(swept, [pingOf("success", 15 * MINUTE)]) });
    expect(made?.transition.events).toMatchObject([{ kind: "up", at: 15 * MINUTE, recoveredAt: 15 * MINUTE }]);
  });

  it("is not affected by an outage of the service", () => {
    expect(change(late, 20 * MINUTE, 19 * MINUTE).transition.state.status).toBe("down");
  });

  it("brings the reminders when they are due, and only then", () => {
    const reminded = after(newHeartbeat({}, { repeatMinutes: 5 }), pingOf("success", 0));
    const { transition } = change(reminded, 11 * MINUTE);
    const down = { ...reminded, state: transition.state };
    expect(down.state.remindAt).toBe(16 * MINUTE);
    expect(change(down, 16 * MINUTE - 1).transition.events).toEqual([]);
    const first = change(down, 16 * MINUTE).transition;
    expect(first.events).toEqual([{ kind: "reminder", at: 16 * MINUTE }]);
    expect(first.state.remindAt).toBe(21 * MINUTE);
    // Those that nobody was there for are not made up for.
    const missed = change(down, 40 * MINUTE).transition;
    expect(missed.events).toHaveLength(1);
    expect(missed.state.remindAt).toBe(41 * MINUTE);
  });
});

describe("the next sweep", () => {
  const state = (over: Partial<MonitorState>): MonitorState => ({ ...NEW_STATE, ...over });

  it.each<readonly [what: string, state: MonitorState, rechecks: readonly number[], at: number | null]>([
    ["of one that is up is at its deadline", state({ status: "up" }), [], 50],
    ["of one that is unknown is at its deadline", state({ status: "unknown", remindAt: 9 }), [], 50],
    ["of one that is down is not needed", state({ status: "down" }), [], null],
    ["of one that is down is at its reminder", state({ status: "down", remindAt: 7 }), [], 7],
    [
      "of one whose notice is silenced is half a minute later",
      state({ status: "down", silenced: SILENCED }),
      [],
      30_001,
    ],
    ["is the earliest of all reasons", state({ status: "down", silenced: SILENCED, remindAt: 90_000 }), [60, 40], 40],
  ])("%s", (_what, given, rechecks, at) => {
    expect(
      nextSweep(given, { rechecks: rechecks.map((time) => ({ location: HEARTBEAT_LOCATION, at: time })) }, 50, 1),
    ).toBe(at);
  });
});

describe("a heartbeat that is flapping", () => {
  /** It failed and succeeded by turns, a minute apart, until it changed for the fifth time, in minute 5. */
  function flapping(): PingedHeartbeat {
    let heartbeat = after(newHeartbeat(), pingOf("success", 0));
    for (let minute = 1; minute <= 5; minute += 1) {
      heartbeat = after(heartbeat, pingOf(minute % 2 === 1 ? "fail" : "success", minute * MINUTE));
    }
    return { ...heartbeat, state: { ...heartbeat.state, flappingNotifiedAt: 5 * MINUTE } };
  }

  it("while it is down is swept for its notices and when its flapping ends", () => {
    const { state } = flapping();
    expect(state).toMatchObject({ status: "down", isFlapping: true });
    expect(nextSweep(state, { rechecks: [] }, null, 6 * MINUTE)).toBe(35 * MINUTE);
    const notified = { ...state, flappingNotifiedAt: 35 * MINUTE };
    expect(nextSweep(notified, { rechecks: [] }, null, 35 * MINUTE)).toBe(61 * MINUTE);
  });

  it("while it is up is swept for them before its deadline, and is as it was after the sweep", () => {
    const well = after(flapping(), pingOf("success", 6 * MINUTE));
    const heartbeat = { ...well, record: { ...well.record, deadlineAt: 500 * MINUTE } };
    expect(sweep(heartbeat, 7 * MINUTE)).toEqual({ kind: "wait", sweepAt: 35 * MINUTE });
    const notified = change(heartbeat, 35 * MINUTE);
    expect(notified.deadlineAt).toBe(500 * MINUTE);
    expect(notified.transition.events).toEqual([{ kind: "flapping_notice", at: 35 * MINUTE, phase: "lasts" }]);
    const ended = change(heartbeat, 62 * MINUTE);
    expect(ended.transition.events).toEqual([
      { kind: "flapping", at: 62 * MINUTE, isFlapping: false },
      { kind: "flapping_notice", at: 62 * MINUTE, phase: "ends" },
    ]);
    expect(ended.transition.state.status).toBe("up");
  });
});
