import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import type { Dependency } from "#control-plane/outages/state/notices.ts";
import { type StateSettings, NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";
import { transition } from "#control-plane/outages/state/transition.ts";
import type { MonitorChange } from "#control-plane/watching/checking/watch/apply-changes.ts";
import { stateSettings } from "#control-plane/watching/checking/watch/watched.ts";

/** What a monitor of many does: its number decides its kind, its receivers and its dependency. */
export interface Watched {
  /** Position among all monitors. */
  readonly index: number;
  readonly id: number;
  readonly accountId: number;
  /** State before the next change. */
  readonly state: MonitorState;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Each monitor has its own time, and the first ones that of another day than the others. */
const START = Date.parse("2026-03-01T22:00:00Z");
const BETWEEN_MS = 60 * SECOND_MS;
const DEPENDENCIES: readonly Dependency[] = ["down", "failing", "due", "fine"];

/** Returns the time of the first change of a monitor, Unix milliseconds. */
export function timeOf(index: number): number {
  return START + index * BETWEEN_MS;
}

/** Reports whether a monitor waits for pings. */
function isPassive(index: number): boolean {
  return index % 4 === 1;
}

/** Lists the tags of a monitor; maintenance windows name one of them. */
export function tagsOf(index: number): readonly string[] {
  return index % 6 === 0 ? ["shop", "db"] : index % 6 === 1 ? [] : ['shop, "eu"'];
}

/** Returns the options of a monitor. */
export function createOptions(index: number): MonitorSettings {
  return {
    ...DEFAULT_SETTINGS,
    locations: isPassive(index) ? ["heartbeat"] : index % 4 === 2 ? ["eu", "us", "ap"] : ["eu"],
    retries: 0,
    notify_email: index % 3 !== 2,
    notify_emails: index % 3 === 0 ? null : ["Ops@example.com", "unconfirmed@example.com", "ops@example.com"],
    repeat_minutes: index % 10 === 3 ? 30 : null,
  };
}

/** Returns the settings of the state machine for a monitor. */
function settingsOf(index: number): StateSettings {
  const settings = createOptions(index);
  const url = isPassive(index) ? "" : "https://shop.example.com/";
  const entry = { intervalSeconds: 60, plannedLocations: settings.locations };
  return { ...stateSettings({ url, checkType: "http", settings }, entry, []), isPassive: isPassive(index) };
}

/** Returns the monitor that is up since a minute; some have changed often within the hour. */
export function startUp(index: number, id: number, accountId: number): Watched {
  const settings = settingsOf(index);
  const now = timeOf(index) - 60 * SECOND_MS;
  let state = NEW_STATE;
  for (const location of settings.locations) state = observe(settings, state, location, "up", now).state;
  if (index % 9 === 4) state = { ...state, changes: [4, 3, 2, 1].map((minutes) => now - minutes * 60 * SECOND_MS) };
  return { index, id, accountId, state };
}

/** The monitor goes down at its time. */
export function goDown(watched: Watched): MonitorChange {
  const settings = settingsOf(watched.index);
  const now = timeOf(watched.index);
  const [first = "", second = first] = settings.locations;
  // With three locations, the second failure confirms the outage.
  const before = second === first ? watched.state : observe(settings, watched.state, first, "down", now - 200).state;
  return describe(watched, before, observe(settings, before, second, "down", now), now);
}

/** Half an hour later the monitor is looked at again. One whose third location fails too is checked there. */
export function lookAgain(watched: Watched): MonitorChange {
  const settings = settingsOf(watched.index);
  const now = timeOf(watched.index) + HOUR_MS / 2;
  const [first = "", second = first, third = first] = settings.locations;
  let before = watched.state;
  if (third !== first) {
    for (const location of [first, second]) before = observe(settings, before, location, "down", now).state;
  }
  const dependency = watched.index % 2 === 0 ? "down" : "fine";
  return { ...describe(watched, before, observe(settings, before, third, "down", now), now), dependency };
}

/** Two hours later the monitor is up again. */
export function goUp(watched: Watched): MonitorChange {
  const settings = settingsOf(watched.index);
  const now = timeOf(watched.index) + 2 * HOUR_MS;
  const [first = "", second = first] = settings.locations;
  const before = second === first ? watched.state : observe(settings, watched.state, first, "up", now - 200).state;
  return describe(watched, before, observe(settings, before, second, "up", now), now);
}

function observe(
  settings: StateSettings,
  state: MonitorState,
  location: string,
  verdict: "up" | "down",
  now: number,
): ReturnType<typeof transition> {
  const words = settings.isPassive
    ? ({ stage: "request", reason: "heartbeat_failed", message: "the run failed with exit code 3" } as const)
    : ({ stage: "connect", reason: "refused", message: "refused" } as const);
  const fault = verdict === "up" ? null : ({ ...words, source: "target" } as const);
  return transition(settings, state, { location, verdict, beganAt: now, responseMs: 20, fault, isRecheck: false }, now);
}

function describe(
  { index, id, accountId }: Watched,
  before: MonitorState,
  made: ReturnType<typeof transition>,
  now: number,
): MonitorChange {
  const depends = index % 5 === 2;
  return {
    monitor: {
      id,
      accountId,
      name: `m${id}`,
      url: isPassive(index) ? "" : "https://shop.example.com/",
      checkType: isPassive(index) ? "heartbeat" : "http",
      settings: createOptions(index),
      tags: tagsOf(index),
      dependsOn: depends ? id - 1 : null,
    },
    settings: settingsOf(index),
    before,
    transition: made,
    dependency: depends ? (DEPENDENCIES[Math.floor(index / 5) % DEPENDENCIES.length] ?? "fine") : "fine",
    now,
  };
}
