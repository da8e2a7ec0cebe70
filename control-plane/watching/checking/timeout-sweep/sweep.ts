import type { App } from "#control-plane/core/app.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { areCovered } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { encodeState, decodeState } from "#control-plane/outages/state/encoding.ts";
import { nextTimeoutSweep } from "#control-plane/outages/state/rechecks.ts";
import {
  listOverdue,
  lockOverdue,
  moveSweeps,
  readOverdue,
  wakeComposites,
  writeSwept,
  type ChangedMonitor,
  type PlannedSweep,
  type OverdueMonitor,
  type FollowedMonitor,
} from "#control-plane/watching/checking/timeout-sweep/store.ts";
import {
  applyChanges,
  type ApplyDeps,
  type MonitorChange,
} from "#control-plane/watching/checking/watch/apply-changes.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import type { CompositeSettings } from "#control-plane/outages/kinds/composite.ts";
import { judgeDependency, type Dependency } from "#control-plane/outages/state/notices.ts";
import { type StateSettings, passiveSettings } from "#control-plane/outages/state/state.ts";
import { transition } from "#control-plane/outages/state/transition.ts";
import {
  COMPOSITE_LOCATION,
  followMembers,
  type MemberStatus,
} from "#control-plane/watching/checking/timeout-sweep/composite.ts";
import { stateSettings } from "#control-plane/watching/checking/watch/watched.ts";
import { isProbed } from "#control-plane/outages/kinds/kinds.ts";

/**
 * The timeout sweep: the periodic pass over monitors that are overdue, because time alone changes something about them.
 */
interface TimeoutSweep {
  /** Sweeps all monitors that are overdue, except those that another replica sweeps. */
  sweep(): Promise<void>;
  /** Starts no further sweep, and waits for the one that is running. */
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
/** Maximum number of monitors of one transaction. */
const MOST_AT_ONCE = 300;
/** Maximum number of changes of monitors of one round that composites follow. */
const MOST_WOKEN = 5_000;
/** Time until the next sweep of a row that cannot be read, in milliseconds. */
const UNREADABLE_MS = 60_000;

/**
 * Starts the timeout sweep of one replica. Several replicas share the work. Most monitors turn out to have newer results,
 * for which no lock is taken. What changes is decided again under the lock of the state, so that it happens once.
 */
export function startTimeoutSweep({
  sql,
  clock,
  log,
  timers,
  withoutAgent,
  recording,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & {
  readonly withoutAgent: FindWithoutAgent;
  readonly recording: ApplyDeps;
}): TimeoutSweep {
  let isStopped = false;
  let running: Promise<void> | null = null;

  async function sweepAll(): Promise<void> {
    await wakeComposites(sql, clock.now(), MOST_WOKEN);
    for (;;) {
      if (isStopped) return;
      const now = clock.now();
      const ids = await listOverdue(sql, now, MOST_AT_ONCE);
      if (ids.length === 0) return;
      const decided = await decideAll(sql, ids, now);
      const waiting = decided.flatMap(({ row, decision }) => (decision.kind === "wait" ? planned(row, decision) : []));
      const moved = waiting.length === 0 ? 0 : await moveSweeps(sql, waiting);
      const changing = decided.flatMap(({ row, decision }) => (decision.kind === "change" ? row.monitorId : []));
      const changed = changing.length === 0 ? 0 : await change(changing);
      // Those that are left belong to other replicas, or have changed since they were read.
      if (ids.length < MOST_AT_ONCE || moved + changed === 0) return;
    }
  }

  /** Changes monitors for which a look without a lock has found something to change. Returns how many there were. */
  async function change(ids: readonly number[]): Promise<number> {
    return transact(sql, async (tx) => {
      const locked = await lockOverdue(tx, ids);
      const now = clock.now();
      // A separate statement: its snapshot is taken when the states are locked, so it sees what earlier holders wrote.
      const decided = await decideAll(tx, locked, now);
      const changes = decided.flatMap(({ decision }) => (decision.kind === "change" ? [decision] : []));
      if (changes.length === 0) return 0;
      const applied = await applyChanges(
        tx,
        recording,
        changes.map((one): MonitorChange => one.change),
        now,
      );
      const written = changes.map(({ change: { monitor, settings }, sweepBy }, index): ChangedMonitor => {
        const made = applied[index];
        if (made === undefined) throw new Error("a change of a monitor has no result");
        const { state, rechecks } = made;
        // What a schedule checks is looked at again by its checks.
        const looks = settings.isPassive ? rechecks.map(({ at }) => at) : [];
        const sweepAt = Math.min(sweepBy ?? Infinity, nextTimeoutSweep(settings, state, now.getTime()), ...looks);
        return { monitorId: monitor.id, status: state.status, state: encodeState(state), visitAt: sweepAt, rechecks };
      });
      await writeSwept(tx, written);
      return written.length;
    });
  }

  /** Reads those of these monitors that are due, and decides about them. */
  async function decideAll(
    db: Queryable,
    ids: readonly number[],
    now: Date,
  ): Promise<readonly { readonly row: OverdueMonitor; readonly decision: SweepDecision }[]> {
    const rows = await readOverdue(db, ids, now);
    const down = rows.flatMap((row) =>
      followedBy(row).flatMap(({ id, tags, status }) =>
        status === "down" ? [{ accountId: row.accountId, monitorId: id, tags, at: now }] : [],
      ),
    );
    const isCovered = await areCovered(db, down);
    const covered = new Set(down.flatMap(({ monitorId }, index) => (isCovered[index] === true ? [monitorId] : [])));
    return rows.map((row) => ({ row, decision: decide(row, covered, now) }));
  }

  /** Decides about one row. One that cannot be read waits, so that it does not hold up those beside it. */
  function decide(row: OverdueMonitor, covered: ReadonlySet<number>, now: Date): SweepDecision {
    try {
      return decideSweep(row, covered, withoutAgent, now.getTime());
    } catch (error) {
      log.error(
        { err: error, monitor: row.monitorId },
        "monitors: a row cannot be read; it is visited again in a minute",
      );
      return { kind: "wait", sweepAt: now.getTime() + UNREADABLE_MS };
    }
  }

  async function sweep(): Promise<void> {
    running ??= sweepAll().finally(() => {
      running = null;
    });
    await running;
  }

  const upkeep = startUpkeep({ everyMs: EVERY_MS, round: sweep, name: "monitors: visits", log, timers });
  return {
    sweep,
    async stop() {
      isStopped = true;
      upkeep.stop();
      await running?.catch(() => {});
    },
  };
}

function planned(
  { monitorId, stateVersion }: OverdueMonitor,
  { sweepAt }: { readonly sweepAt: number | null },
): PlannedSweep {
  return { monitorId, stateVersion, visitAt: sweepAt };
}

/** What a sweep leads to. Times are Unix milliseconds. */
type SweepDecision =
  /** Nothing changes; null: no sweep is needed before the monitor is resumed. */
  | { readonly kind: "wait"; readonly sweepAt: number | null }
  /** The next sweep is at `sweepBy` at the latest; null: when the state says. */
  | { readonly kind: "change"; readonly change: MonitorChange; readonly sweepBy: number | null };

/** Time between two sweeps of a composite whose monitors are down in maintenance, which can end without them. */
const COVERED_MS = 30_000;

/** Returns the locations of an account's monitor that have had no connected agent for some time. */
type FindWithoutAgent = (accountId: number, locations: readonly string[]) => readonly string[];

/**
 * Decides what time has changed about a monitor; `covered` are monitors in maintenance. A composite follows its
 * monitors, a heartbeat has a sweep of its own (heartbeats/sweeper.ts), and a paused monitor needs none.
 */
function decideSweep(
  row: OverdueMonitor,
  covered: ReadonlySet<number>,
  withoutAgent: FindWithoutAgent,
  now: number,
): SweepDecision {
  const { checkType, isActive, intervalSeconds, plannedLocations } = row;
  if (!isActive) return { kind: "wait", sweepAt: null };
  const options = readStoredSettings(row.settings);
  const { composite } = options;
  if (composite !== null) return decideComposite(row, covered, { ...options, composite }, now);
  if (!isProbed(checkType) || intervalSeconds === null) return { kind: "wait", sweepAt: null };
  const monitor = { url: row.url, checkType, settings: options };
  const absent = withoutAgent(row.accountId, plannedLocations);
  const settings = stateSettings(monitor, { intervalSeconds, plannedLocations }, absent);
  const before = decodeState(row.state);
  const made = transition(settings, before, null, now);
  // That there is no data is noted although nothing follows from it yet.
  const isSame = made.events.length === 0 && made.state.noData === before.noData;
  if (isSame) return { kind: "wait", sweepAt: nextTimeoutSweep(settings, before, now) };
  return { kind: "change", change: changeOf(row, { settings, options, before, transition: made, now }), sweepBy: null };
}

/** Decides what the statuses of its monitors change about a composite. */
function decideComposite(
  row: OverdueMonitor,
  covered: ReadonlySet<number>,
  options: MonitorSettings & { readonly composite: CompositeSettings },
  now: number,
): SweepDecision {
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
  const sweepBy = members.some(({ status }) => status === "maintenance") ? now + COVERED_MS : null;
  if (isSame && before.silenced === null) {
    return { kind: "wait", sweepAt: Math.min(sweepBy ?? Infinity, nextTimeoutSweep(settings, before, now)) };
  }
  return { kind: "change", change: changeOf(row, { settings, options, before, transition: made, now }), sweepBy };
}

/** Returns the monitors that a composite follows. */
function followedBy({ members }: Pick<OverdueMonitor, "members">): readonly FollowedMonitor[] {
  return JSON.parse(members) as readonly FollowedMonitor[];
}

function changeOf(
  row: OverdueMonitor,
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

function dependencyOf(row: OverdueMonitor, now: number): Dependency {
  const { dependencyState, isDependencyChecked, dependencyDueAt } = row;
  if (dependencyState === null) return "fine";
  const dueAt = dependencyDueAt?.getTime() ?? null;
  return judgeDependency({ state: decodeState(dependencyState), isChecked: isDependencyChecked, dueAt }, now);
}
