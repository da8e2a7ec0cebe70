import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import type { HeartbeatPort } from "#control-plane/monitors/heartbeat-port.ts";
import type { PicturePort } from "#control-plane/monitors/picture-port.ts";
import type { RecentCheck } from "#control-plane/history/recent.ts";
import type { StateFacts } from "#control-plane/checking/facts.ts";
import type { Schedule } from "#control-plane/checking/schedule/schedule.ts";
import type { ExpiryFacts } from "#control-plane/expiry/shown/shown.ts";

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
  readonly schedule: Schedule;
  readonly states: StatePort;
  readonly knowledge: KnowledgePort;
  readonly mail: MailPort;
  readonly heartbeats: HeartbeatPort;
  readonly expiry: ExpiryPort;
  readonly pictures: PicturePort;
}
