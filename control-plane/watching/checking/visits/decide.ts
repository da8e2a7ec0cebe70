import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import type { CompositeSettings } from "#control-plane/outages/kinds/composite.ts";
import { judgeDependency, type Dependency } from "#control-plane/outages/state/dependency.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import { nextVisit } from "#control-plane/outages/state/next-visit.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import { transition } from "#control-plane/outages/state/transition.ts";
import type { MonitorChange } from "#control-plane/watching/checking/watch/apply-changes.ts";
import {
  COMPOSITE_LOCATION,
  followMembers,
  type MemberStatus,
} from "#control-plane/watching/checking/visits/composite.ts";
import { passiveSettings } from "#control-plane/outages/state/passive.ts";
import { stateSettings } from "#control-plane/watching/checking/watch/watched.ts";
import type { FollowedMonitor, VisitedMonitor } from "#control-plane/watching/checking/visits/store.ts";
import { isProbed } from "#control-plane/outages/kinds/kinds.ts";

/** What a visit leads to. Times are Unix milliseconds. */
export type VisitDecision =
  /** Nothing changes; null: no visit is needed before the monitor is resumed. */
  | { readonly kind: "wait"; readonly visitAt: number | null }
  /** The next visit is at `visitBy` at the latest; null: when the state says. */
  | { readonly kind: "change"; readonly change: MonitorChange; readonly visitBy: number | null };

/** Time between two visits of a composite whose monitors are down in maintenance, which can end without them. */
const COVERED_MS = 30_000;

/** Returns the locations of an account's monitor that have had no connected probe for some time. */
export type FindUnserved = (accountId: number, locations: readonly string[]) => readonly string[];

/**
 * Decides what time has changed about a monitor; `covered` are monitors in maintenance. A composite follows its monitors, a heartbeat has visits of
 * its own (heartbeats/sweep), and a paused monitor needs none.
 */
export function decideVisit(
  row: VisitedMonitor,
  covered: ReadonlySet<number>,
  unserved: FindUnserved,
  now: number,
): VisitDecision {
  const { checkType, isActive, intervalSeconds, plannedLocations } = row;
  if (!isActive) return { kind: "wait", visitAt: null };
  const options = readStoredSettings(row.settings);
  const { composite } = options;
  if (composite !== null) return decideComposite(row, covered, { ...options, composite }, now);
  if (!isProbed(checkType) || intervalSeconds === null) return { kind: "wait", visitAt: null };
  const monitor = { url: row.url, checkType, settings: options };
  const absent = unserved(row.accountId, plannedLocations);
  const settings = stateSettings(monitor, { intervalSeconds, plannedLocations }, absent);
  const before = decodeState(row.state);
  const made = transition(settings, before, null, now);
  // That results are lacking is noted although nothing follows from it yet.
  const isSame = made.events.length === 0 && made.state.unwatched === before.unwatched;
  if (isSame) return { kind: "wait", visitAt: nextVisit(settings, before, now) };
  return { kind: "change", change: changeOf(row, { settings, options, before, transition: made, now }), visitBy: null };
}

/** Decides what the statuses of its monitors change about a composite. */
function decideComposite(
  row: VisitedMonitor,
  covered: ReadonlySet<number>,
  options: MonitorSettings & { readonly composite: CompositeSettings },
  now: number,
): VisitDecision {
  const settings = passiveSettings(COMPOSITE_LOCATION, options.repeat_minutes);
  const before = decodeState(row.state);
  const followed = followedBy(row);
  const members = followed.map(({ id, name, status }): MemberStatus => {
    return { name, status: status === "down" && covered.has(id) ? "maintenance" : status };
  });
  const made = followMembers(options.composite, settings, before, members, now);
  const one = made.state.locations.get(COMPOSITE_LOCATION);
  const other = before.locations.get(COMPOSITE_LOCATION);
  const isSame =
    made.events.length === 0 && one?.verdict === other?.verdict && one?.fault?.message === other?.fault?.message;
  const visitBy = members.some(({ status }) => status === "maintenance") ? now + COVERED_MS : null;
  if (isSame && before.held === null) {
    return { kind: "wait", visitAt: Math.min(visitBy ?? Infinity, nextVisit(settings, before, now)) };
  }
  return { kind: "change", change: changeOf(row, { settings, options, before, transition: made, now }), visitBy };
}

/** Returns the monitors that a composite follows. */
export function followedBy({ members }: Pick<VisitedMonitor, "members">): readonly FollowedMonitor[] {
  return JSON.parse(members) as readonly FollowedMonitor[];
}

function changeOf(
  row: VisitedMonitor,
  {
    settings,
    options,
    ...made
  }: Pick<MonitorChange, "before" | "transition" | "now"> & {
    readonly settings: StateSettings;
    readonly options: MonitorSettings;
  },
): MonitorChange {
  const { monitorId: id, accountId, name, url, checkType, tags, dependsOn } = row;
  return {
    // A cause says how many of the locations fail that the monitor is checked from.
    monitor: {
      id,
      accountId,
      name,
      url,
      checkType,
      tags,
      dependsOn,
      settings: { ...options, locations: settings.locations },
    },
    settings,
    ...made,
    dependency: dependencyOf(row, made.now),
  };
}

function dependencyOf(row: VisitedMonitor, now: number): Dependency {
  const { dependencyState, isDependencyChecked, dependencyDueAt } = row;
  if (dependencyState === null) return "fine";
  const dueAt = dependencyDueAt?.getTime() ?? null;
  return judgeDependency({ state: decodeState(dependencyState), isChecked: isDependencyChecked, dueAt }, now);
}
