import type { StateEvent } from "#control-plane/outages/state/events.ts";
import {
  type CheckFault,
  type Observation,
  NEW_STATE,
  type MonitorState,
  type StateSettings,
} from "#control-plane/outages/state/state.ts";
import { transition, type Transition } from "#control-plane/outages/state/transition.ts";

/** When every story begins, in Unix milliseconds. */
export const START = Date.parse("2026-03-01T12:00:00Z");

/** Settings of most stories: three locations, checked once a minute. A verdict is fresh for 135 s. */
export const SETTINGS: StateSettings = {
  locations: ["eu", "us", "ap"],
  withoutAgent: [],
  quorum: "majority",
  retries: 2,
  recovery: 1,
  intervalMs: 60_000,
  timeoutMs: 15_000,
  degradedMs: null,
  repeatMs: null,
  isPassive: false,
};

/** The fault of every failing check. */
export const FAULT: CheckFault = { stage: "connect", source: "target", reason: "refused", message: "refused" };

/** The fault of every check that a probe could not make. */
const PROBE_FAULT: CheckFault = { stage: "request", source: "probe", reason: "no_probe", message: "no probe" };

/** Further facts about a check of a story. */
interface CheckOptions {
  readonly tookMs?: number;
  readonly responseMs?: number | null;
  readonly isRecheck?: boolean;
  /** Fault of a check that is not good; default FAULT, or that of the probe if nothing is known. */
  readonly fault?: CheckFault;
}

/** A monitor whose checks a test describes one by one. */
export interface Story {
  readonly settings: StateSettings;
  state: MonitorState;
  /** Unix milliseconds. */
  now: number;
  /** Lets seconds pass, without a transition. Negative: the clock is set back. */
  wait(seconds: number): void;
  /** A check ends now. */
  check(location: string, verdict: Observation["verdict"], options?: CheckOptions): Transition;
  /** Checks of all locations end now, in this order. Returns all their events. */
  checkAll(verdicts: Readonly<Record<string, Observation["verdict"]>>): readonly StateEvent[];
  /** Time passes, and nothing is checked. */
  expire(): Transition;
  /** Continues with other settings. */
  change(settings: Partial<StateSettings>): void;
}

/** Begins a story with a new monitor. */
export function tell(given: Partial<StateSettings> = {}): Story {
  let settings = { ...SETTINGS, ...given };
  const story: Story = {
    get settings() {
      return settings;
    },
    state: NEW_STATE,
    now: START,
    wait(seconds) {
      story.now += seconds * 1_000;
    },
    check(location, verdict, { tookMs = 0, responseMs = 100, isRecheck = false, fault: wanted } = {}) {
      const fault = verdict === "up" ? null : (wanted ?? (verdict === "down" ? FAULT : PROBE_FAULT));
      const observation = { location, verdict, beganAt: story.now - tookMs, responseMs, fault, isRecheck };
      const made = transition(settings, story.state, observation, story.now);
      story.state = made.state;
      return made;
    },
    checkAll: (verdicts) =>
      Object.entries(verdicts).flatMap(([location, verdict]) => story.check(location, verdict).events),
    expire() {
      const made = transition(settings, story.state, null, story.now);
      story.state = made.state;
      return made;
    },
    change(changed) {
      settings = { ...settings, ...changed };
    },
  };
  return story;
}

/** Begins a story with a monitor that is up at all its locations since ten seconds. */
export function tellOfUp(given: Partial<StateSettings> = {}): Story {
  const story = tell(given);
  for (const location of story.settings.locations) story.check(location, "up");
  story.wait(10);
  return story;
}

/** Begins a story with a monitor that is down at all its locations since ten seconds. */
export function tellOfDown(given: Partial<StateSettings> = {}): Story {
  const story = tellOfUp(given);
  for (let round = 0; story.state.status !== "down" && round < 9; round++) {
    for (const location of story.settings.locations) story.check(location, "down");
  }
  for (const location of story.settings.locations) story.check(location, "down");
  story.wait(10);
  return story;
}

/** The kinds of events, with a mark on those about the status that are notices. */
export function kinds(events: readonly StateEvent[]): readonly string[] {
  return events.map((event) => ("isNotice" in event && event.isNotice ? `${event.kind}!` : event.kind));
}
