import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { decodeState, encodeState } from "#control-plane/outages/state/encoding.ts";
import type { StateEvent } from "#control-plane/outages/state/events.ts";
import { silenceNotices, type SilenceContext, type Notice } from "#control-plane/outages/state/notices.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";
import { transition, type Transition } from "#control-plane/outages/state/transition.ts";
import { createModel } from "#test/control-plane/outages/state/naive-model.ts";
import {
  createDice,
  createHistory,
  type Dice,
  type History,
  type Step,
} from "#test/control-plane/outages/state/random-histories.ts";
import { START } from "#test/control-plane/outages/state/story.ts";

/** Histories that are compared with the model, and those that are examined for a single rule. */
const HISTORIES = 2_000;
const EXAMINED = 500;
/** Steps of a history. */
const LENGTH = 60;

/** Notes that a rule is broken. Cheap enough for every step. */
type Demand = (isMet: boolean, rule: string) => void;

function apply(settings: History["settings"], state: MonitorState, { now, observation }: Step): Transition {
  return transition(settings, state, observation, now);
}

/** A step of a history with what followed from it. */
interface SeenStep extends Transition {
  readonly before: MonitorState;
  readonly step: Step;
  readonly history: History;
}

/** A caller of the product: changes the state after a step, as the product's own callers do. */
type Caller = (made: Transition, step: Step, demand: Demand) => MonitorState;

/** Runs histories through the product and returns the rules that were broken, and where. */
function examine(
  visit: (seen: SeenStep, demand: Demand) => void,
  begin: (history: History, dice: Dice) => Caller = () => (made) => made.state,
): readonly string[] {
  const broken: string[] = [];
  for (let seed = 1; seed <= EXAMINED; seed++) {
    const dice = createDice(seed);
    const history = createHistory(dice, LENGTH, seed % 2 === 0);
    const call = begin(history, dice);
    let before = NEW_STATE;
    for (const [at, step] of history.steps.entries()) {
      const demand: Demand = (isMet, rule) => {
        if (!isMet) broken.push(`history ${seed}, step ${at}: ${rule}`);
      };
      const made = apply(history.settings, before, step);
      visit({ ...made, before, step, history }, demand);
      before = call(made, step, demand);
    }
  }
  return broken;
}

/** Decides whether a slowness counts as reported, as a caller does that silences some notices. */
function isReportedNow({ isDegradedReported }: MonitorState, events: readonly StateEvent[], dice: Dice): boolean {
  let isReported = isDegradedReported;
  for (const { kind } of events) {
    if (kind === "degraded" || kind === "down") isReported = dice.perMille(500) ? kind === "degraded" : isReported;
    if (kind === "recovered_speed") isReported = false;
  }
  return isReported;
}

/** Age until which a verdict counts, in milliseconds. */
function freshMs({ isPassive, intervalMs, timeoutMs }: History["settings"]): number {
  return isPassive ? Infinity : 2 * intervalMs + timeoutMs;
}

describe("random histories", () => {
  it("have the states, events and rechecks of a model that computes them anew from all observations", () => {
    const met = new Set<string>();
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const dice = createDice(seed);
      const { settings, steps } = createHistory(dice, LENGTH, seed % 2 === 0);
      const model = createModel(settings);
      let state = NEW_STATE;
      for (const [at, step] of steps.entries()) {
        const { state: next, events, rechecks } = apply(settings, state, step);
        const { status, lastKnown, isFlapping, isDegraded, failing, unsteady, remindAt } = next;
        const actual = { status, lastKnown, isFlapping, isDegraded, failing, unsteady, remindAt, events, rechecks };
        const expected = model(step, state.isDegradedReported);
        if (!isDeepStrictEqual(actual, expected)) expect({ seed, at, ...actual }).toEqual({ seed, at, ...expected });
        for (const { kind } of events) met.add(kind);
        state = { ...next, isDegradedReported: isReportedNow(next, events, dice) };
      }
    }
    // Otherwise the histories are too tame to show anything.
    expect([...met].toSorted()).toEqual([
      "advisory",
      "degraded",
      "down",
      "failing",
      "flapping",
      "flapping_notice",
      "no_data",
      "recovered_speed",
      "reminder",
      "soft_state",
      "unknown",
      "up",
    ]);
  });

  it("are down only by a quorum of fresh locations, and never by fewer than two of several", () => {
    const broken = examine(({ before, state, history: { settings }, step: { now } }, demand) => {
      if (state.status !== "down" || before.status === "down") return;
      const fresh = settings.locations
        .map((location) => state.locations.get(location))
        .filter((known) => known !== undefined && now - known.at <= freshMs(settings));
      const failing = fresh.filter((known) => known?.verdict === "down").length;
      const needed = settings.quorum === "majority" ? Math.floor(fresh.length / 2) + 1 : settings.quorum;
      demand(fresh.length >= Math.min(2, settings.locations.length), "two fresh locations");
      demand(failing >= Math.min(needed, fresh.length), "a quorum fails");
    });
    expect(broken).toEqual([]);
  });

  it("have notices of outages and recoveries in turns, and an incident exactly between them", () => {
    let incident: number | null = null;
    let last: "down" | "up" = "up";
    const broken = examine(
      ({ before, state, events, step }, demand) => {
        if (before === NEW_STATE) [incident, last] = [null, "up"];
        demand(before.incidentId === incident, "an incident during each outage, and no other");
        for (const event of events) {
          if (!("isNotice" in event) || !event.isNotice) continue;
          demand(event.kind !== last, "in turns");
          last = event.kind;
          incident = last === "down" ? step.now : null;
        }
        demand((state.lastKnown === "down") === (last === "down"), "a notice for each outage");
      },
      () => (made, step) => {
        const isNew = made.events.some((event) => event.kind === "down" && event.isNotice);
        return isNew ? { ...made.state, incidentId: step.now } : made.state;
      },
    );
    expect(broken).toEqual([]);
  });

  it("keep every time in order and never after now", () => {
    const broken = examine(({ state, events, step: { now } }, demand) => {
      for (const { at, since, streak } of state.locations.values()) {
        demand(since <= at && at <= now && streak >= 1, "times of a location");
      }
      const { changes, knownSince, changedAt, remindAt, status } = state;
      demand(changes.length <= 5, "few changes");
      demand(
        changes.every((at, index) => at <= now && at >= (changes[index - 1] ?? at)),
        "times of changes",
      );
      demand((knownSince ?? now) <= now && (changedAt ?? now) <= now, "times of the status");
      demand(remindAt === null || status !== "down" || remindAt > now, "a reminder ahead");
      for (const event of events) {
        demand(event.at === now, "events now");
        if (event.kind === "down") demand(event.startedAt <= now, "an outage that has started");
        if (event.kind === "up") demand(event.recoveredAt <= now, "a recovery that has started");
      }
    });
    expect(broken).toEqual([]);
  });

  it("have outages that begin after the end of the outage before, and end after they began", () => {
    const broken = examine(({ before, events, step: { now } }, demand) => {
      const began = Math.min(before.knownSince ?? -Infinity, now);
      for (const event of events) {
        if (event.kind === "down" && before.lastKnown === "up") demand(event.startedAt >= began, "outages apart");
        if (event.kind === "up" && event.isNotice) demand(event.recoveredAt >= began, "an end after the beginning");
      }
    });
    expect(broken).toEqual([]);
  });

  it("ask for few rechecks, each of a configured location, once, and within a second", () => {
    const broken = examine(({ rechecks, before, state, step: { now, observation }, history: { settings } }, demand) => {
      demand(new Set(rechecks.map(({ location }) => location)).size === rechecks.length, "each location once");
      for (const { location, at } of rechecks) {
        demand(settings.locations.includes(location), "a configured location");
        demand(at - now === (location === observation?.location ? 1_000 : 0), "others now, itself after a second");
      }
      if (rechecks.length === 0) return;
      if (observation?.verdict === "unknown") {
        const isRecent = [...state.locations.values()].some(({ at }) => now - at <= 60_000);
        demand(isRecent, "a minute at most");
        demand(state.status !== "down" || before.lastKnown === "down", "something that is not confirmed");
      } else if (observation?.verdict === "down") demand(state.status !== "down", "an outage that is not confirmed");
      else demand(before.lastKnown === "down", "a recovery that is not confirmed");
    });
    expect(broken).toEqual([]);
  });

  it("continue from the stored form of a state as from the state, and change nothing that they were given", () => {
    const broken = examine(({ state, before, step, history: { settings }, events, rechecks }, demand) => {
      const stored = encodeState(before);
      demand(isDeepStrictEqual(decodeState(stored), before), "every field is stored");
      const again = apply(settings, decodeState(stored), step);
      demand(isDeepStrictEqual(again, { state, events, rechecks }), "the same transition");
      apply(settings, before, step);
      demand(encodeState(before) === stored, "the state before is as it was");
    });
    expect(broken).toEqual([]);
  });

  it("send to each receiver a recovery for each outage that was sent, whatever silences notices", () => {
    let sent: Notice["kind"] = "up";
    let silenced = 0;
    const broken = examine(
      ({ before }) => {
        if (before === NEW_STATE) sent = "up";
      },
      ({ settings }, dice) => {
        let context: SilenceContext = { maintenance: false, dependency: "fine" };
        return (made, { now }, demand) => {
          if (dice.perMille(100)) {
            context = {
              maintenance: dice.perMille(300),
              dependency: dice.pick(["down", "failing", "due", "fine", "fine"]),
            };
          }
          const isFree = !context.maintenance && context.dependency !== "down";
          const { state, notices, rechecks } = silenceNotices(settings, made, context, now);
          for (const { kind } of notices) {
            if (kind === "reminder") demand(sent === "down", "a reminder of an outage that was sent");
            if (kind === "down") demand(isFree, "no outage is sent while there is a reason to silence it");
            if (kind !== "down" && kind !== "up") continue;
            demand(kind !== sent, "in turns");
            sent = kind;
          }
          const isDown = state.lastKnown === "down";
          demand((state.silenced !== null) === (isDown && sent === "up"), "each outage is either sent or silenced");
          demand(new Set(rechecks.map(({ location }) => location)).size === rechecks.length, "each location once");
          if (state.silenced !== null) silenced += 1;
          return state;
        };
      },
    );
    expect(broken).toEqual([]);
    expect(silenced).toBeGreaterThan(1_000);
  });

  it("send to each receiver an end for each slowness that was sent, also after outages of which nothing was sent", () => {
    let isOpen = false;
    let dropped = 0;
    const broken = examine(
      ({ before }) => {
        if (before === NEW_STATE) isOpen = false;
      },
      ({ settings }, dice) => {
        let isHeld = false;
        return (made, { now }, demand) => {
          if (dice.perMille(100)) isHeld = dice.perMille(500);
          const { state, notices } = silenceNotices(settings, made, { maintenance: isHeld, dependency: "fine" }, now);
          for (const { kind } of notices) {
            if (kind === "degraded") demand(!isOpen, "a slowness once");
            if (kind === "recovered_speed") demand(isOpen, "the end of a slowness that was sent");
            if (kind === "degraded" || kind === "recovered_speed" || kind === "down") isOpen = kind === "degraded";
          }
          demand(state.isDegradedReported === isOpen, "known whether one is to be ended");
          if (isOpen && state.status === "down" && state.silenced !== null) dropped += 1;
          demand(!isOpen || state.status !== "up" || state.slowStreak > -3, "an end when it is quick again");
          return state;
        };
      },
    );
    expect(broken).toEqual([]);
    expect(dropped).toBeGreaterThan(10);
  });
});

describe("random steps of the clock", () => {
  it("make no monitor down whose checks all succeed, and none up whose checks all fail", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const dice = createDice(seed);
      const { settings } = createHistory(dice, 0, true);
      for (const verdict of ["up", "down"] as const) {
        let state = NEW_STATE;
        let now = START;
        const kinds: StateEvent["kind"][] = [];
        for (let step = 0; step < 60; step++) {
          now += dice.perMille(200) ? dice.pick([-3_600_000, 3_600_000, -1_000]) : dice.below(30_000);
          const location = dice.pick(settings.locations);
          const observation = { location, verdict, beganAt: now, responseMs: 1, fault: null, isRecheck: false };
          const made = transition(settings, state, observation, now);
          kinds.push(...made.events.map(({ kind }) => kind));
          state = made.state;
        }
        expect(kinds).not.toContain(verdict === "up" ? "down" : "up");
      }
    }
  });
});
