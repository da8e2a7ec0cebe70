import type { Queryable } from "#control-plane/database/connect.ts";
import { createHeartbeats } from "#control-plane/heartbeats/heartbeats.ts";
import type { RecentCheck } from "#control-plane/history/recent.ts";
import type { StateFacts } from "#control-plane/checking/facts.ts";
import type { Schedule, Scheduled } from "#control-plane/checking/schedule/schedule.ts";
import type { MonitorPorts, StatePort, Statistics } from "#control-plane/monitors/ports.ts";

import { acceptLatest, deleteVisual, insertVisuals } from "#control-plane/pictures/store.ts";
import { createEncryption } from "#control-plane/secrets/encryption.ts";
import { systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";

/** Facts of a monitor of which nothing is known. */
export const NO_FACTS: StateFacts = {
  status: "unknown",
  isDegraded: false,
  isFlapping: false,
  advisory: null,
  lastCheckedAt: null,
  nextCheckAt: null,
  scheduleLagMs: null,
  lastChangeAt: null,
  lastError: null,
};

/** The neighbours of monitors, on the real tables, with facts that a test sets. */
export interface TestPorts extends MonitorPorts {
  /** Further facts by monitor id. */
  readonly facts: Map<number, Partial<StateFacts>>;
  readonly statistics: Map<number, Statistics>;
  readonly checks: Map<number, readonly RecentCheck[]>;
  /** Confirmed addresses, lower case. */
  readonly confirmed: Set<string>;
  /** Addresses to which mail fails, lower case. */
  readonly failing: Set<string>;
  /** Addresses whose owners were asked to confirm them, in order. */
  readonly asked: string[];
  /** Calls of the schedule and the states, such as "plan 1" or "reset 1,2 paused". */
  readonly calls: string[];
}

/** Creates the neighbours of monitors. */
export function createTestPorts(now: () => Date, isMailConfigured = true): TestPorts {
  const facts = new Map<number, Partial<StateFacts>>();
  const statistics = new Map<number, Statistics>();
  const checks = new Map<number, readonly RecentCheck[]>();
  const confirmed = new Set<string>();
  const failing = new Set<string>();
  const asked: string[] = [];
  const calls: string[] = [];
  return {
    facts,
    statistics,
    checks,
    confirmed,
    failing,
    asked,
    calls,
    schedule: createSchedule(now, calls),
    states: createStates(calls),
    knowledge: {
      async states(sql, ids) {
        const rows = await sql<{ id: number; status: StateFacts["status"] }[]>`
          select monitor_id as id, status from monitor_states where monitor_id = any(${[...ids]}::bigint[])`;
        return new Map(rows.map(({ id, status }) => [id, { ...NO_FACTS, status, ...facts.get(id) }]));
      },
      statistics: (monitors) =>
        Promise.resolve(
          new Map(
            monitors.flatMap(({ id }) => {
              const known = statistics.get(id);
              return known === undefined ? [] : [[id, known] as const];
            }),
          ),
        ),
      recentChecks: ({ id }, most) => Promise.resolve((checks.get(id) ?? []).slice(0, most)),
    },
    expiry: { facts: () => Promise.resolve(new Map()) },
    heartbeats: createHeartbeats({
      clock: { now, monotonic: () => performance.now() },
      random: systemRandom,
      encryption: createEncryption(MASTER_KEY, systemRandom),
      baseUrl: "http://127.0.0.1",
    }),
    pictures: {
      begin: insertVisuals,
      remove: deleteVisual,
      accept: (tx, id) => acceptLatest(tx, id, now()),
      facts: () => Promise.resolve(new Map()),
    },
    mail: {
      isConfigured: isMailConfigured,
      ensureRecipients(_tx, _accountId, emails) {
        asked.push(...emails);
        return Promise.resolve();
      },
      withdrawRecipients: () => Promise.resolve(),
      statusOf: (_sql, _accountId, emails) =>
        Promise.resolve(
          emails.map((email) => ({ email, confirmed: confirmed.has(email.toLowerCase()), unsubscribedAt: null })),
        ),
      failingOf: () => Promise.resolve(failing),
    },
  };
}

function createSchedule(now: () => Date, calls: string[]): Schedule {
  const insert = async (sql: Queryable, monitors: readonly Scheduled[]) => {
    const slots = monitors.flatMap((monitor) => monitor.locations.map((location) => ({ ...monitor, location })));
    await sql`
      insert into monitor_slots (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds,
        planned_at, due_at)
      select monitor_id, location, account_id, interval_seconds, 0, timeout_seconds, ${now()}, ${now()}
      from unnest(
        ${slots.map(({ id }) => id)}::bigint[], ${slots.map(({ location }) => location)}::text[],
        ${slots.map(({ accountId }) => accountId)}::bigint[],
        ${slots.map(({ intervalSeconds }) => intervalSeconds)}::integer[],
        ${slots.map(({ timeoutSeconds }) => timeoutSeconds)}::integer[]
      ) as given (monitor_id, location, account_id, interval_seconds, timeout_seconds)`;
  };
  const remove = async (sql: Queryable, ids: readonly number[]) => {
    await sql`delete from monitor_slots where monitor_id = any(${[...ids]}::bigint[])`;
  };
  const note = (call: string, ids: readonly number[]) => void calls.push(`${call} ${ids.join(",")}`);
  const idsOf = (monitors: readonly Scheduled[]) => monitors.map(({ id }) => id);
  return {
    async plan(tx, monitors) {
      note("plan", idsOf(monitors));
      await insert(tx, monitors);
    },
    async replan(tx, monitor) {
      note("replan", [monitor.id]);
      await remove(tx, [monitor.id]);
      await insert(tx, [monitor]);
    },
    async change(tx, monitors) {
      note("change", idsOf(monitors));
      await remove(tx, idsOf(monitors));
      await insert(tx, monitors);
    },
    async remove(tx, ids) {
      note("remove", ids);
      await remove(tx, ids);
    },
    async run(tx, id) {
      note("run", [id]);
      await tx`update monitor_slots set extra_at = ${now()} where monitor_id = ${id}`;
    },
  };
}

function createStates(calls: string[]): StatePort {
  return {
    async insert(tx, ids) {
      await tx`
        insert into monitor_states (monitor_id, state) select id, '{}' from unnest(${[...ids]}::bigint[]) as given (id)`;
    },
    async reset(tx, ids, reason) {
      calls.push(`reset ${ids.join(",")} ${reason}`);
      await tx`
        update monitor_states set status = 'unknown', state = '{}', state_version = state_version + 1
        where monitor_id = any(${[...ids]}::bigint[])`;
    },
    remove(_tx, ids) {
      calls.push(`forget ${ids.join(",")}`);
      return Promise.resolve();
    },
  };
}
