import type { Queryable } from "#control-plane/database/connect.ts";
import type { CheckType } from "#control-plane/monitors/monitor.ts";
import { decodePhases } from "#control-plane/monitors/snapshots/phases.ts";
import {
  readSlotRows,
  readSnapshotRows,
  type SlotRow,
  type SnapshotRow,
} from "#control-plane/monitors/snapshots/store.ts";
import { decodeState } from "#control-plane/monitors/state/encoding.ts";
import { isFresh } from "#control-plane/monitors/state/freshness.ts";
import type { MonitorState, Status } from "#control-plane/monitors/state/state.ts";

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

/** Reads all monitors of an account by id, those with this tag if one is given, in two statements. */
export async function readSnapshots(
  sql: Queryable,
  accountId: number,
  tag: string | null,
  now: Date,
): Promise<readonly MonitorSnapshot[]> {
  const monitors = await readSnapshotRows(sql, accountId, tag);
  if (monitors.length === 0) return [];
  const slots = Map.groupBy(
    await readSlotRows(
      sql,
      monitors.map(({ id }) => id),
    ),
    ({ monitorId }) => monitorId,
  );
  return monitors.map((monitor) => createSnapshot(monitor, slots.get(monitor.id) ?? [], now.getTime()));
}

function createSnapshot(
  { state: text, ...monitor }: SnapshotRow,
  slots: readonly SlotRow[],
  now: number,
): MonitorSnapshot {
  const state = decodeState(text);
  const { status, isDegraded, isFlapping } = state;
  return { ...monitor, status, isDegraded, isFlapping, locations: slots.map((slot) => describeSlot(slot, state, now)) };
}

function describeSlot(slot: SlotRow, state: MonitorState, now: number): LocationSnapshot {
  const known = state.locations.get(slot.location);
  const freshness = {
    intervalMs: slot.intervalSeconds * 1_000,
    timeoutMs: slot.timeoutSeconds * 1_000,
    isPassive: false,
  };
  return {
    location: slot.location,
    verdict: known === undefined || !isFresh(freshness, known, now) ? null : known.verdict,
    checkedAt: slot.checkedAt,
    lagSeconds: slot.lagMs === null ? null : slot.lagMs / 1_000,
    responseSeconds: slot.responseMs === null ? null : slot.responseMs / 1_000,
    phases: decodePhases(slot.phases),
  };
}
