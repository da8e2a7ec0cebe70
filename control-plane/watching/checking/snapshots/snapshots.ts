import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { decodePhases } from "#control-plane/watching/checking/snapshots/phases.ts";
import {
  countMonitorsAfter,
  readEntryRows,
  readSnapshotRows,
  type EntryRow,
  type SnapshotRow,
  type SnapshotScope,
} from "#control-plane/watching/checking/snapshots/store.ts";
import type { Yielder } from "#control-plane/core/yielder.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import { isFresh } from "#control-plane/outages/state/locations.ts";
import type { MonitorState, Status } from "#control-plane/outages/state/state.ts";

/** What is known about a monitor at one location. */
interface LocationSnapshot {
  readonly location: string;
  /** null: no recent verdict. */
  readonly verdict: "up" | "down" | null;
  /** When the newest check began; null: no check yet. */
  readonly checkedAt: Date | null;
  /** How much later than planned it began, seconds. */
  readonly lagSeconds: number | null;
  /** Time to its answer, seconds; null: no answer. */
  readonly responseSeconds: number | null;
  /** Parts of responseSeconds by name; null: not measured. */
  readonly phases: readonly (readonly [phase: string, seconds: number])[] | null;
}

/** Everything about a monitor that the newest checks say. */
export interface MonitorSnapshot {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: CheckType;
  readonly isActive: boolean;
  readonly tags: readonly string[];
  readonly createdAt: Date;
  readonly status: Status;
  readonly isDegraded: boolean;
  readonly isFlapping: boolean;
  /** By location; none for heartbeats and paused monitors. */
  readonly locations: readonly LocationSnapshot[];
}

/** How much is read: a monitor costs `perMonitor`, and each of its locations `perLocation`. */
interface SnapshotBudget {
  readonly most: number;
  readonly perMonitor: number;
  readonly perLocation: number;
}

/** Options of a reading. */
interface SnapshotOptions extends SnapshotScope {
  readonly now: Date;
  readonly budget: SnapshotBudget;
  readonly yielder: Yielder;
}

/** The first monitors of an account by id, and the number of those for which there was no budget. */
interface Snapshots {
  readonly monitors: readonly MonitorSnapshot[];
  readonly omitted: number;
}

/** Reads monitors of an account by id, as many as the budget allows, in two statements; with a third it counts the rest. */
export async function readSnapshots(sql: Queryable, options: SnapshotOptions): Promise<Snapshots> {
  const { now, budget, yielder } = options;
  // One more of each than the budget allows: monitors whose rows are not all read are not shown.
  const rows = await readSnapshotRows(sql, options, Math.floor(budget.most / budget.perMonitor) + 1);
  if (rows.length === 0) return { monitors: [], omitted: 0 };
  const ids = rows.map(({ id }) => id);
  const entryRows = await readEntryRows(sql, ids, Math.floor(budget.most / budget.perLocation) + 1);
  const entries = new Map(entryRows.map((row) => [row.monitorId, row.slots]));
  const monitors: MonitorSnapshot[] = [];
  let cost = 0;
  for (const row of rows) {
    const own = JSON.parse(entries.get(row.id) ?? "[]") as readonly EntryRow[];
    cost += budget.perMonitor + own.length * budget.perLocation;
    if (cost > budget.most) break;
    monitors.push(createSnapshot(row, own, now.getTime()));
    if (yielder.isDue()) await yielder.rest();
  }
  const isWhole = monitors.length === rows.length;
  return { monitors, omitted: isWhole ? 0 : await countMonitorsAfter(sql, options, monitors.at(-1)?.id ?? 0) };
}

function createSnapshot(
  { state: text, ...monitor }: SnapshotRow,
  entries: readonly EntryRow[],
  now: number,
): MonitorSnapshot {
  const state = decodeState(text);
  const { status, isDegraded, isFlapping } = state;
  return {
    ...monitor,
    status,
    isDegraded,
    isFlapping,
    locations: entries.map((entry) => describeEntry(entry, state, now)),
  };
}

function describeEntry(
  [location, intervalSeconds, timeoutSeconds, checkedAt, lagMs, responseMs, phases]: EntryRow,
  state: MonitorState,
  now: number,
): LocationSnapshot {
  const known = state.locations.get(location);
  const freshness = { intervalMs: intervalSeconds * 1_000, timeoutMs: timeoutSeconds * 1_000, isPassive: false };
  return {
    location,
    verdict: known === undefined || !isFresh(freshness, known, now) ? null : known.verdict,
    checkedAt: checkedAt === null ? null : new Date(checkedAt),
    lagSeconds: lagMs === null ? null : lagMs / 1_000,
    responseSeconds: responseMs === null ? null : responseMs / 1_000,
    phases: decodePhases(phases),
  };
}
