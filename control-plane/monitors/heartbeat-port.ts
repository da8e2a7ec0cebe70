import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { HeartbeatSettings } from "#control-plane/kinds/heartbeat.ts";

/** A heartbeat as the state of its pings depends on it. */
interface ExpectedHeartbeat {
  readonly id: number;
  readonly settings: HeartbeatSettings;
}

/** What the pings of a heartbeat say. */
export interface HeartbeatFacts {
  /** The address of its pings, which is a secret. */
  readonly url: string;
  readonly lastPingAt: Date | null;
  readonly lastKind: PingKind | null;
  readonly lastDurationMs: number | null;
  /** Start of the oldest open run. */
  readonly runStartedAt: Date | null;
  readonly deadlineAt: Date | null;
}

/** Kinds of pings; exit: the run ended with an exit code. */
export const PING_KINDS = ["success", "start", "fail", "log", "exit"] as const;
/** One of these kinds. */
export type PingKind = (typeof PING_KINDS)[number];

/** A recorded ping as the API shows it. */
export interface ShownPing {
  readonly received_at: string;
  readonly kind: PingKind;
  readonly exit_code: number | null;
  /** Id of the run that the ping belongs to. */
  readonly rid: string | null;
  readonly method: string;
  readonly remote_addr: string;
  readonly user_agent: string | null;
  readonly duration_ms: number | null;
  readonly body: string | null;
  readonly body_truncated: boolean;
}

/** The addresses and the pings of heartbeats. Functions with a transaction belong to it. */
export interface HeartbeatPort {
  /** Returns the problem with the schedule of a heartbeat; null: none. */
  findScheduleProblem(settings: HeartbeatSettings): FieldProblem | null;
  /** Returns the line for a crontab that runs a job and sends its pings; with a comment above it, two lines. */
  cronLine(settings: HeartbeatSettings, url: string): string;
  /** Creates new addresses for monitors that are heartbeats from now on. */
  insert(tx: Transaction, ids: readonly number[]): Promise<void>;
  /** Removes the address of a monitor that is no heartbeat any more. */
  remove(tx: Transaction, id: number): Promise<void>;
  /** Replaces the address of a heartbeat; the present one stops working. */
  rotate(tx: Transaction, id: number): Promise<void>;
  /** Adapts the deadline of an active heartbeat to new settings. */
  reschedule(tx: Transaction, heartbeat: ExpectedHeartbeat): Promise<void>;
  /** Returns what is known about heartbeats by id; other monitors are missing. */
  facts(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, HeartbeatFacts>>;
  /** Returns the 20 newest pings of a heartbeat, newest first. */
  pings(sql: Queryable, id: number): Promise<readonly ShownPing[]>;
}
