import { deadline } from "#control-plane/watching/heartbeats/deadline.ts";
import type { Ping, PingKind } from "#control-plane/watching/heartbeats/ping.ts";
import { endRun, startRun, type OpenRun } from "#control-plane/watching/heartbeats/runs.ts";
import { reportedFailure, type Verdict } from "#control-plane/watching/heartbeats/verdicts.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";

/** What the pings of a heartbeat have said so far. Times are Unix milliseconds. */
export interface HeartbeatRecord {
  readonly pingCount: number;
  readonly lastPingAt: number | null;
  readonly lastKind: PingKind | null;
  readonly lastDurationMs: number | null;
  /** The newest ping that reported a success. */
  readonly succeededAt: number | null;
  /** Oldest first. */
  readonly openRuns: readonly OpenRun[];
  /** When it is late; null if nothing is expected. */
  readonly deadlineAt: number | null;
  /** What pings have said about the status that the state of the monitor does not know, oldest first. */
  readonly verdicts: readonly Verdict[];
}

/** What a ping says about its monitor: up, down, or neither. */
interface PingVerdict {
  readonly verdict: "up" | "down" | null;
  /** Why it is down. */
  readonly fault: CheckFault | null;
}

/** A ping with what follows from it. */
interface AppliedPing extends PingVerdict {
  readonly record: HeartbeatRecord;
  /** How long the run took that it ended, milliseconds; null if it ended none, or its start is not known. */
  readonly durationMs: number | null;
}

/**
 * Applies a ping to a heartbeat. A start and a log say nothing about the status; they are no sign that the job works. A
 * ping that arrived before the newest success, at another replica, changes neither the deadline nor the status.
 * `failedAt`: when the newest failure was reported that the monitor is down for, Unix milliseconds; null: none was.
 */
export function applyPing(
  record: HeartbeatRecord,
  settings: HeartbeatSettings,
  ping: Ping,
  failedAt: number | null = null,
): AppliedPing {
  const { receivedAt } = ping;
  const isLate = receivedAt < Math.max(record.succeededAt ?? -Infinity, failedAt ?? -Infinity);
  const { verdict, fault } = isLate ? NEITHER : readVerdict(ping);
  const ends = ping.kind !== "start" && ping.kind !== "log";
  const ended = ends ? endRun(record.openRuns, ping.rid) : { runs: record.openRuns, startedAt: null };
  const openRuns = nextRuns(ended.runs, settings, { ping, verdict, isLate });
  const durationMs = ended.startedAt === null ? null : Math.max(0, receivedAt - ended.startedAt);
  const succeededAt = verdict === "up" ? receivedAt : record.succeededAt;
  return {
    verdict,
    fault,
    durationMs,
    record: {
      ...record,
      pingCount: record.pingCount + 1,
      lastPingAt: Math.max(receivedAt, record.lastPingAt ?? receivedAt),
      lastKind: ping.kind,
      lastDurationMs: durationMs ?? record.lastDurationMs,
      succeededAt,
      openRuns,
      deadlineAt: isLate ? record.deadlineAt : nextDeadline(record, settings, { ping, verdict, succeededAt, openRuns }),
    },
  };
}

/**
 * A start opens a run, unless it arrived before the newest success: nobody knows that its run has not ended since. A
 * success gives up the runs that have been open for longer than the grace time. Their lateness is over with it, as that
 * of a missed ping is: otherwise a run that crashed would make every later success late at once.
 */
function nextRuns(
  runs: readonly OpenRun[],
  { grace_seconds: grace }: HeartbeatSettings,
  { ping, verdict, isLate }: Pick<PingVerdict, "verdict"> & { readonly ping: Ping; readonly isLate: boolean },
): readonly OpenRun[] {
  const { receivedAt } = ping;
  if (ping.kind === "start") return isLate ? runs : startRun(runs, { rid: ping.rid, startedAt: receivedAt });
  return verdict === "up" ? runs.filter(({ startedAt }) => startedAt + grace * 1_000 > receivedAt) : runs;
}

/**
 * A success sets the deadline anew. A start can only bring it forward: it can have been moved, and what is late stays
 * late. Nothing is expected after a failure: the monitor is down until the next success.
 */
function nextDeadline(
  { deadlineAt }: HeartbeatRecord,
  settings: HeartbeatSettings,
  after: Pick<PingVerdict, "verdict"> &
    Pick<HeartbeatRecord, "succeededAt" | "openRuns"> & { readonly ping: Pick<Ping, "kind" | "receivedAt"> },
): number | null {
  if (after.verdict === "up") return deadlineOf(after, settings);
  if (after.verdict === "down") return null;
  if (after.ping.kind !== "start") return deadlineAt;
  return Math.min(deadlineAt ?? Infinity, after.ping.receivedAt + settings.grace_seconds * 1_000);
}

const NEITHER: PingVerdict = { verdict: null, fault: null };

function readVerdict({ kind, exitCode }: Ping): PingVerdict {
  switch (kind) {
    case "start":
    case "log":
      return NEITHER;
    case "success":
      return { verdict: "up", fault: null };
    case "fail":
      return { verdict: "down", fault: reportedFailure("the run reported a failure") };
    case "exit":
      if (exitCode === 0) return { verdict: "up", fault: null };
      return { verdict: "down", fault: reportedFailure(`the run failed with exit code ${exitCode ?? "unknown"}`) };
  }
}

/** Returns when a heartbeat is late, Unix milliseconds; null if nothing is expected of it. */
export function deadlineOf(
  { succeededAt, openRuns }: Pick<HeartbeatRecord, "succeededAt" | "openRuns">,
  settings: HeartbeatSettings,
): number | null {
  const [oldest] = openRuns;
  const at = deadline({
    ...settings,
    last_ping: succeededAt === null ? null : new Date(succeededAt),
    last_start: oldest === undefined ? null : new Date(oldest.startedAt),
  });
  return at?.getTime() ?? null;
}
