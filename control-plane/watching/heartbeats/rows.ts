import type { HeartbeatRecord } from "#control-plane/watching/heartbeats/apply-ping.ts";
import { decodeRuns } from "#control-plane/watching/heartbeats/runs.ts";
import { decodeVerdicts } from "#control-plane/watching/heartbeats/verdicts.ts";
import type { PingKind } from "#control-plane/watching/heartbeats/ping.ts";

/** Columns of a heartbeat that its pings change, as selected. */
export interface RecordRow {
  readonly pingCount: number;
  readonly lastPingAt: Date | null;
  readonly lastKind: PingKind | null;
  readonly lastDurationMs: number | null;
  readonly succeededAt: Date | null;
  readonly openRuns: string;
  readonly deadlineAt: Date | null;
  readonly verdicts: string;
  readonly judgedNumber: number;
}

/** Converts a row. */
export function readRecord(row: RecordRow): HeartbeatRecord {
  return {
    pingCount: row.pingCount,
    lastPingAt: row.lastPingAt?.getTime() ?? null,
    lastKind: row.lastKind,
    lastDurationMs: row.lastDurationMs,
    succeededAt: row.succeededAt?.getTime() ?? null,
    openRuns: decodeRuns(row.openRuns),
    deadlineAt: row.deadlineAt?.getTime() ?? null,
    verdicts: decodeVerdicts(row.verdicts, row.judgedNumber),
  };
}
