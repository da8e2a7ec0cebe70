import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { HeartbeatSettings } from "#control-plane/monitors/monitor.ts";
import type { RecentCheck } from "#control-plane/monitors/history/recent.ts";
import type { CheckFault } from "#control-plane/monitors/state/observation.ts";

/** The facts about a monitor on which its schedule depends. Pass it only for active monitors. */
export interface Scheduled {
  readonly id: number;
  readonly accountId: number;
  /** The locations that the plan allows, in the order of the record. */
  readonly locations: readonly string[];
  /** That of the record, or the shortest of the plan if that is longer. */
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
}

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
  /** Returns a line for a crontab that sends the pings of a heartbeat. */
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

/** What the pictures of a visual monitor show. */
export interface PictureFacts {
  readonly accepted: { readonly pictureId: number; readonly at: Date } | null;
  /** `ratio`: percent of the pixels that differ from the accepted picture. */
  readonly latest: {
    readonly pictureId: number;
    readonly at: Date;
    readonly ratio: number;
    /** Shows what differs; null: less than the threshold does. */
    readonly differenceId: number | null;
  } | null;
  /** Why the newest check gave no picture; null: it gave one. */
  readonly fault: CheckFault | null;
}

/** The pictures of visual monitors. Functions with a transaction belong to it. */
export interface PicturePort {
  /** Begins with no picture. `basis`: see visual-basis.ts; pictures taken with another one are dropped. */
  begin(tx: Transaction, monitors: readonly { readonly id: number; readonly basis: string }[]): Promise<void>;
  /** Deletes all pictures of a monitor. */
  remove(tx: Transaction, id: number): Promise<void>;
  /** Accepts the newest picture. Returns false if there is none. */
  accept(tx: Transaction, id: number): Promise<boolean>;
  /** Returns what is known about pictures by monitor; monitors of other check types are missing. */
  facts(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, PictureFacts>>;
}

/** A picture that a check has taken. */
export interface TakenPicture {
  readonly monitorId: number;
  readonly accountId: number;
  /** What it was taken with (visual-basis.ts). */
  readonly basis: string;
  readonly location: string;
  readonly takenAt: Date;
  /** PNG as the agent sent it. */
  readonly bytes: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** What the checks of visual monitors do with their pictures. */
export interface PictureRecorder {
  /**
   * Compares a picture and stores it, with the event if the page has changed, in one transaction. Returns null, or why it
   * could not. A picture whose monitor was changed or deleted meanwhile is dropped. Rejects while the database is away.
   */
  record(taken: TakenPicture): Promise<CheckFault | null>;
  /** Notes why a check gave no picture. */
  noteFault(monitorId: number, fault: CheckFault): Promise<void>;
}

/** When monitors are checked. All functions belong to the open transaction. */
export interface SchedulePort {
  /** Plans the checks of monitors without any: new, resumed or imported ones. The first is due at once. */
  plan(tx: Transaction, monitors: readonly Scheduled[]): Promise<void>;
  /** Plans the checks of a monitor with a new target again: the first is due at once. */
  replan(tx: Transaction, monitor: Scheduled): Promise<void>;
  /**
   * Adapts the planned checks to new locations, intervals and timeouts. Slots that are not affected keep their planned
   * times; a new location is checked at once.
   */
  change(tx: Transaction, monitors: readonly Scheduled[]): Promise<void>;
  /** Removes every planned check. A check that is running can no longer be recorded. */
  remove(tx: Transaction, ids: readonly number[]): Promise<void>;
  /** Requests a check of a monitor at each of its locations now; the planned ones stay. */
  run(tx: Transaction, id: number): Promise<void>;
}

/** What is known about monitors. All functions belong to the open transaction. */
export interface StatePort {
  /** Creates the states of new monitors: unknown. */
  insert(tx: Transaction, ids: readonly number[]): Promise<void>;
  /**
   * Returns monitors to unknown and resolves their open incidents without an event. paused: they are not checked any
   * more; restarted: they have a new target, or are checked again after a pause.
   */
  reset(tx: Transaction, ids: readonly number[], reason: "paused" | "restarted"): Promise<void>;
  /** Resolves the open incidents of monitors without an event. Called before the monitors are deleted. */
  remove(tx: Transaction, ids: readonly number[]): Promise<void>;
}

/** What the state machine and the schedule know about a monitor. */
export interface StateFacts {
  readonly status: "up" | "down" | "unknown";
  readonly isDegraded: boolean;
  readonly isFlapping: boolean;
  /** Locations that fail while the monitor is up; null: none. */
  readonly advisory: { readonly since: Date; readonly locations: readonly string[]; readonly message: string } | null;
  readonly lastCheckedAt: Date | null;
  readonly nextCheckAt: Date | null;
  /** How much later than planned the newest check began, in milliseconds. */
  readonly scheduleLagMs: number | null;
  readonly lastChangeAt: Date | null;
  /** Fault of the newest failing check. */
  readonly lastError: CheckFault | null;
}

/** What the history of a monitor shows. */
export interface Statistics {
  /** Percentages of 0 to 100 with three decimals; null while no time is known. */
  readonly uptime: {
    readonly d1: number | null;
    readonly d7: number | null;
    readonly d30: number | null;
    readonly d90: number | null;
  };
  /** Percentiles of the last 24 hours, in milliseconds; null without a successful check. */
  readonly responseMs: { readonly p50: number | null; readonly p95: number | null; readonly p99: number | null };
}

/** The facts about a monitor on which its statistics depend. */
interface Measured {
  readonly id: number;
  readonly accountId: number;
  readonly tags: readonly string[];
  readonly createdAt: Date;
}

/** What reads of monitors show beside their records. Monitors of which nothing is known can be missing in the maps. */
export interface KnowledgePort {
  states(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, StateFacts>>;
  /** Returns the statistics of at most 100 monitors. Uses its own connection: not called inside a transaction. */
  statistics(monitors: readonly Measured[]): Promise<ReadonlyMap<number, Statistics>>;
  /** Returns the newest checks of a monitor, newest first. Uses its own connection too. */
  recentChecks(monitor: Measured, most: number): Promise<readonly RecentCheck[]>;
}

/** What is known about the certificate and the registration of a monitor, as reads show it. Times are ISO 8601 UTC. */
export interface ExpiryFacts {
  /** null: it has none, or it was not found yet. */
  readonly certificate: {
    readonly issuer: string;
    readonly subject: string;
    readonly fingerprint_sha256: string;
    readonly not_before: string;
    readonly not_after: string;
    readonly days_left: number;
    readonly trusted: boolean;
    readonly trust_error: string | null;
    readonly looked_at: string;
    readonly chain_changed_at: string | null;
  } | null;
  /** null: it is not watched, or the registry has not answered yet. */
  readonly domain: {
    readonly name: string;
    readonly registrar: string | null;
    readonly expires_at: string | null;
    readonly days_left: number | null;
    readonly status: readonly string[];
    readonly looked_at: string;
  } | null;
}

/** The certificates and registrations of monitors. */
interface ExpiryPort {
  /** Returns what is known by monitor id, with one statement. Monitors of which nothing is known are missing. */
  facts(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, ExpiryFacts>>;
}

/** Receivers of mail about monitors. */
interface MailPort {
  /** Whether this service can send mail. */
  readonly isConfigured: boolean;
  /** Asks the owners of new addresses to confirm them. */
  ensureRecipients(tx: Transaction, accountId: number, emails: readonly string[]): Promise<void>;
  /** Returns which addresses are confirmed. Unknown addresses can be missing. */
  statusOf(
    sql: Queryable,
    accountId: number,
    emails: readonly string[],
  ): Promise<readonly { readonly email: string; readonly confirmed: boolean }[]>;
}

/** Everything that monitors need of their neighbours. */
export interface MonitorPorts {
  readonly schedule: SchedulePort;
  readonly states: StatePort;
  readonly knowledge: KnowledgePort;
  readonly mail: MailPort;
  readonly heartbeats: HeartbeatPort;
  readonly expiry: ExpiryPort;
  readonly pictures: PicturePort;
}
