import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import type { HeartbeatPort } from "#control-plane/monitors/heartbeat-port.ts";
import type { PicturePort } from "#control-plane/monitors/picture-port.ts";
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
  /** What people should know about a monitor that is up: locations that fail, alone or at the first try; null: nothing. */
  readonly advisory: { readonly since: Date; readonly locations: readonly string[]; readonly message: string } | null;
  readonly lastCheckedAt: Date | null;
  readonly nextCheckAt: Date | null;
  /** How much later than planned the newest check began, in milliseconds. */
  readonly scheduleLagMs: number | null;
  readonly lastChangeAt: Date | null;
  /** Fault of the newest failing check, that of a first try which passed on the re-check included. */
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

/** Why the last look at a certificate or a registration brought nothing, as reads show it. Times are ISO 8601 UTC. */
export interface LookError {
  /** A stable word. */
  readonly reason: string;
  readonly message: string;
  /** First of the looks in a row that brought nothing. */
  readonly failed_since: string;
  readonly next_look_at: string;
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
    /** The certificate of the chain that is sent whose validity ends first; it may be the server's own one. */
    readonly first_to_end: {
      readonly role: "leaf" | "intermediate" | "root";
      readonly subject: string;
      readonly issuer: string;
      readonly fingerprint_sha256: string;
      readonly not_after: string;
      readonly days_left: number;
    };
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
  /** null: the last look succeeded, or there was none yet. */
  readonly certificate_error: LookError | null;
  /** What people should know about the server, from wherever it is checked; absent: nothing. */
  readonly advisory?: NonNullable<StateFacts["advisory"]>;
  readonly domain_error: LookError | null;
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
  /** Takes back what was not sent yet to ask addresses for their confirmation. */
  withdrawRecipients(tx: Transaction, accountId: number, emails: readonly string[]): Promise<void>;
  /** Returns which addresses are confirmed, and since when they get nothing because their owners have unsubscribed. */
  statusOf(
    sql: Queryable,
    accountId: number,
    emails: readonly string[],
  ): Promise<readonly { readonly email: string; readonly confirmed: boolean; readonly unsubscribedAt: Date | null }[]>;
  /** Returns those of the addresses to which mail has failed for a minute or more; in lower case. */
  failingOf(sql: Queryable, accountId: number, emails: readonly string[]): Promise<ReadonlySet<string>>;
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
