import { describe, expect, it } from "vitest";
import { foldPings, type PingedHeartbeat } from "#control-plane/watching/heartbeats/fold-pings.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/watching/heartbeats/state-settings.ts";
import { decideSweep } from "#control-plane/watching/heartbeats/decide-sweep.ts";
import type { Transition } from "#control-plane/outages/state/transition.ts";
import { below, createDice } from "#test/fleet/random.ts";
import { judgeAll, newHeartbeat, pingOf } from "#test/support/heartbeats/parts.ts";

/** Applies pings one after the other; after each the state follows. */
function fold(heartbeat: PingedHeartbeat, ...pings: readonly Ping[]) {
  const transitions: Transition[] = [];
  let folded = heartbeat;
  for (const ping of pings) {
    const judged = judgeAll({ ...folded, ...foldPings(folded, [ping]) });
    folded = judged.heartbeat;
    transitions.push(...judged.transitions);
  }
  return { heartbeat: folded, events: eventsOf(transitions), writes: transitions.length };
}

/** Applies pings together; then the state follows. */
function foldTogether(heartbeat: PingedHeartbeat, ...pings: readonly Ping[]) {
  const judged = judgeAll({ ...heartbeat, ...foldPings(heartbeat, pings) });
  return { heartbeat: judged.heartbeat, events: eventsOf(judged.transitions) };
}

function eventsOf(transitions: readonly Transition[]) {
  return transitions.flatMap(({ events }) => events.map(({ kind, at }) => ({ kind, at })));
}

/** Sweeps a heartbeat whose state the sweep must change. */
function becomeLate(heartbeat: PingedHeartbeat, now: number) {
  const decided = decideSweep({ ...heartbeat, outageEndedAt: null }, now);
  if (decided.kind !== "change") throw new Error("the sweep changed nothing");
  return { ...heartbeat, state: decided.transition.state };
}

const failed = (at: number, exitCode: number) => pingOf("exit", at, { exitCode });

describe("waiting pings", () => {
  it("are numbered in their order, and leave to the state what they say about the status", () => {
    const { record, stored } = foldPings(newHeartbeat(), [
      pingOf("log", 1),
      pingOf("success", 2),
      pingOf("success", 3),
    ]);
    expect(stored.map(({ number, kind }) => [number, kind])).toEqual([
      [1, "log"],
      [2, "success"],
      [3, "success"],
    ]);
    expect(record).toMatchObject({
      pingCount: 3,
      deadlineAt: 660_003,
      verdicts: [{ number: 2, at: 2, fault: null, durationMs: null }],
    });
  });

  it("lead to the same changes, whether the state follows each at once or all of them later", () => {
    const dice = createDice(5);
    const kinds = ["success", "success", "fail", "start", "log"] as const;
    for (let run = 0; run < 200; run += 1) {
      // Fewer than make it flap: how that ends depends on when the state follows.
      const pings = Array.from({ length: 5 }, (_, n) =>
        pingOf(kinds[below(dice, kinds.length)] ?? "log", 10 * n + below(dice, 25)),
      );
      const [one, other] = [fold(newHeartbeat(), ...pings), foldTogether(newHeartbeat(), ...pings)];
      expect(other.events).toEqual(one.events);
      expect(other.heartbeat.record).toEqual(one.heartbeat.record);
      expect(other.heartbeat.state).toEqual(one.heartbeat.state);
    }
  });

  it("that contradict each other faster than the state follows are recorded, and the newest verdict counts", () => {
    const pings = Array.from({ length: 301 }, (_, n) => (n % 2 === 0 ? pingOf("success", n) : failed(n, 1)));
    const { record, stored } = foldPings(newHeartbeat(), pings);
    expect(stored).toHaveLength(301);
    expect(record.verdicts).toHaveLength(100);
    expect(record.verdicts.at(-1)).toMatchObject({ number: 301, fault: null });
    expect(foldTogether(newHeartbeat(), ...pings).heartbeat.state.status).toBe("up");
    expect(foldTogether(newHeartbeat(), ...pings.slice(0, -1)).heartbeat.state.status).toBe("down");
  });

  it("that report a success from before the failure leave the monitor down", () => {
    const { heartbeat } = fold(newHeartbeat(), pingOf("success", 1), failed(500, 3));
    const { heartbeat: after, events } = fold(heartbeat, pingOf("success", 499));
    expect(after.state.status).toBe("down");
    expect(events).toEqual([]);
    expect(fold(after, pingOf("success", 501)).heartbeat.state.status).toBe("up");
  });

  it("that repeat a known verdict are stored without a change of the state", () => {
    const { heartbeat } = fold(newHeartbeat(), pingOf("success", 1));
    const again = foldPings(heartbeat, [pingOf("success", 2), pingOf("start", 3), pingOf("success", 4)]);
    expect(again).toMatchObject({ record: { pingCount: 4, lastDurationMs: 1, verdicts: [] } });
    expect(again.stored.map(({ durationMs }) => durationMs)).toEqual([null, null, 1]);
  });

  it("that keep reporting failures are one outage", () => {
    const pings = Array.from({ length: 50 }, (_, n) => failed(10 + n, 1 + n));
    const { heartbeat, events, writes } = fold(newHeartbeat(), pingOf("success", 1), ...pings);
    expect(events.map(({ kind }) => kind)).toEqual(["up", "down"]);
    expect(writes).toBe(2);
    expect(heartbeat.record).toMatchObject({ pingCount: 51, deadlineAt: null });
  });

  it("that report a failure of a late heartbeat change what is wrong, in the same outage", () => {
    const late = becomeLate(fold(newHeartbeat(), pingOf("success", 1)).heartbeat, 700_000);
    const { heartbeat, events } = fold(late, failed(710_000, 3));
    expect(events.filter(({ kind }) => kind === "down" || kind === "up")).toEqual([]);
    expect(heartbeat.state.locations.get(HEARTBEAT_LOCATION)?.fault?.reason).toBe("heartbeat_failed");
  });
});

describe("a ping that was received before the sweeper found it late, and recorded after", () => {
  it("makes the heartbeat up, not earlier than it was down", () => {
    const late = becomeLate(fold(newHeartbeat(), pingOf("success", 1)).heartbeat, 661_000);
    const { heartbeat, events } = fold(late, pingOf("success", 659_000));
    expect(events).toEqual([{ kind: "up", at: 660_001 }]);
    expect(heartbeat.record.deadlineAt).toBe(659_000 + 660_000);
  });

  it("makes the heartbeat up after a failure that was recorded after the sweep too", () => {
    const late = becomeLate(fold(newHeartbeat(), pingOf("success", 1)).heartbeat, 661_000);
    const { heartbeat } = fold(late, failed(640_000, 3), pingOf("success", 650_000));
    expect(heartbeat.state).toMatchObject({ status: "up", changedAt: 660_001 });
  });

  it("does not let the next outage begin before the recovery", () => {
    const every = newHeartbeat({ cron: "* * * * *", grace_seconds: 1 });
    const late = becomeLate(fold(every, pingOf("success", 1)).heartbeat, 62_000);
    // Both arrived before the deadline at 61 s. The run that stays open was late at 59 s.
    const pings = [pingOf("start", 58_000, { rid: "a" }), pingOf("success", 58_500, { rid: "b" })];
    const { heartbeat } = fold(late, ...pings);
    expect(heartbeat).toMatchObject({ record: { deadlineAt: 59_000 }, state: { status: "up", changedAt: 61_000 } });
    const again = becomeLate(heartbeat, 63_000);
    expect(again.state).toMatchObject({ status: "down", changedAt: 61_000, knownSince: 61_000 });
  });
});

describe("flapping", () => {
  it("delays neither an outage nor a recovery", () => {
    const pings = Array.from({ length: 12 }, (_, n) =>
      n % 2 === 0 ? pingOf("success", n * 1_000) : failed(n * 1_000, 1),
    );
    const { heartbeat, events } = fold(newHeartbeat(), ...pings);
    expect(heartbeat.state).toMatchObject({ status: "down", isFlapping: true });
    const changes = events.filter(({ kind }) => kind === "up" || kind === "down");
    expect(changes).toEqual(pings.map(({ receivedAt }, n) => ({ kind: n % 2 === 0 ? "up" : "down", at: receivedAt })));
  });

  it("ends after an hour of good pings", () => {
    const pings = Array.from({ length: 13 }, (_, n) => (n % 2 === 0 ? pingOf("success", n) : failed(n, 1)));
    const calm = Array.from({ length: 8 }, (_, n) => pingOf("success", (n + 1) * 600_000));
    expect(fold(newHeartbeat(), ...pings).heartbeat.state.isFlapping).toBe(true);
    expect(fold(newHeartbeat(), ...pings, ...calm).heartbeat.state.isFlapping).toBe(false);
  });
});

describe("a run that never ends", () => {
  it("is down once, and a later run that succeeds ends the outage", () => {
    const crashed = fold(newHeartbeat(), pingOf("start", 0, { rid: "a" })).heartbeat;
    const late = becomeLate(crashed, 60_000);
    const { heartbeat } = fold(late, pingOf("start", 100_000, { rid: "b" }), pingOf("success", 101_000, { rid: "b" }));
    expect(heartbeat.state.status).toBe("up");
    expect(heartbeat.record).toMatchObject({ openRuns: [], deadlineAt: 761_000 });
  });
});
