import { pino } from "pino";
import { createAccounts } from "#control-plane/accounts/accounts.ts";
import { connect, type Sql, type Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { createMaintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import {
  applyChanges,
  type AppliedChange,
  type MonitorChange,
} from "#control-plane/watching/checking/watch/apply-changes.ts";
import { createOptions, tagsOf, timeOf } from "#test/control-plane/watching/checking/watch/many-changes.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";
import { openUnsentMail } from "#test/support/unsent-mail.ts";
import { liveTimers } from "#test/support/timers.ts";

/** A row as it is read; times are dates. */
export type Row = Readonly<Record<string, unknown>>;

/** Accounts with monitors, addresses and maintenance windows, on a separate database. */
export interface ChangesWorld {
  /** Accounts, ascending. */
  readonly accounts: readonly number[];
  /** Ids of the monitors, ascending; those of the accounts take turns. */
  readonly monitors: readonly number[];
  /** Applies changes in one transaction. Returns what was applied, and how many statements that took. */
  apply(changes: readonly MonitorChange[], writtenAt: Date): Promise<Applied>;
  /** Reads all that changes have written, with monitors in place of the ids of incidents and events. */
  read(): Promise<Readonly<Record<string, readonly Row[]>>>;
  close(): Promise<void>;
}

/** What changes have become. */
interface Applied {
  readonly applied: readonly AppliedChange[];
  readonly statements: number;
}

const ACCOUNTS = 5;
/** A window lasts longer than the changes of a test. */
const WINDOW_MS = 86_400_000;

/** Opens a world: two worlds of the same size have the same accounts and monitors. Call `close` in afterAll. */
export async function openChangesWorld(size: number): Promise<ChangesWorld> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 2, statementTimeoutMs: 30_000 });
  const log = pino({ level: "silent" });
  const start = new Date(timeOf(0));
  const clock = createManualClock(start);
  const accounts = createAccounts(sql, clock);
  const mail = openUnsentMail(sql, clock);
  const maintenance = createMaintenance({
    timers: liveTimers,
    sql,
    clock,
    log,
    monitorsOf: (_on, _account, ids) => Promise.resolve(new Set(ids)),
  });
  const events = createEvents({ random: systemRandom, sources: [mail.source] });

  const accountIds: number[] = [];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    // The last account has no address.
    const email = n === ACCOUNTS - 1 ? null : `owner-${n}@example.com`;
    const account = await accounts.create(sql, { email, plan: "captain" });
    if (account === null) throw new Error("no account");
    accountIds.push(account.id);
    await confirmRecipients(sql, account.id, [...(email === null ? [] : [email]), "ops@example.com"]);
  }
  const accountOf = (index: number): number => accountIds[index % ACCOUNTS] ?? 0;
  const monitors = await transact(sql, async (tx) => {
    const ids = await reserveIds(tx, size);
    const rest = { intervalMinutes: 1, isActive: true, pausedReason: null, dependsOn: null, secrets: null } as const;
    const target = { url: "https://shop.example.com/", checkType: "http" } as const;
    const rows = ids.map((id, index) => {
      const given = { id, accountId: accountOf(index), name: `m${id}`, tags: tagsOf(index) };
      return { ...given, ...target, ...rest, settings: createOptions(index) };
    });
    await insertMonitors(tx, rows, start);
    await insertStates(tx, ids);
    return ids;
  });
  for (const [n, accountId] of accountIds.entries()) {
    const named = monitors.filter((_, index) => index % ACCOUNTS === n && index % 8 === 0);
    const scope = n % 2 === 0 ? { tags: ["db"] } : { monitor_ids: named.slice(0, 20) };
    const times = { starts_at: start.toISOString(), ends_at: new Date(start.getTime() + WINDOW_MS).toISOString() };
    const written = await transact(sql, (tx) =>
      maintenance.create(tx, accountId, { title: "work", ...scope, ...times }),
    );
    if (!written.ok) throw new Error(JSON.stringify(written));
  }

  return {
    accounts: accountIds,
    monitors,
    apply: (changes, writtenAt) =>
      transact(sql, async (tx) => {
        const ids = changes.map(({ monitor }) => monitor.id);
        await tx`select from monitor_states where monitor_id = any(${ids}::bigint[]) order by monitor_id for update`;
        const counted = countStatements(tx);
        const applied = await applyChanges(counted.tx, { events, requestEvidence }, changes, writtenAt);
        return { applied, statements: counted.statements() };
      }),
    read: () => readWritten(sql),
    async close() {
      mail.close();
      maintenance.close();
      await sql.end();
      await database.drop();
    },
  };
}

/** Counts the statements that are sent on a transaction. A part of another statement is not sent by itself. */
export function countStatements(tx: Transaction): { readonly tx: Transaction; readonly statements: () => number } {
  const sent = new Set<unknown>();
  const counted = new Proxy(tx, {
    apply(target, self, args) {
      const made = Reflect.apply(target, self, args) as unknown;
      if (made instanceof Promise) sent.add(made);
      for (const part of args) sent.delete(part);
      return made;
    },
  });
  return { tx: counted, statements: () => sent.size };
}

async function readWritten(sql: Sql): Promise<Readonly<Record<string, readonly Row[]>>> {
  const [incidents, entries, events, deliveries, statuses, hours] = await Promise.all([
    sql`select account_id, monitor_id, monitor_name, monitor_url, check_type, monitor_ids, page_ids, title, status, impact,
        is_public, started_at, confirmed_at, recovered_at, resolved_at, cause_code, cause_message, locations,
        suppressed_by, entry_count
      from incidents order by monitor_id, started_at, incidents.id`,
    sql`select i.monitor_id, i.started_at, e.occurred_at, e.kind, e.author, e.text, e.status, e.is_public
      from incident_entries as e join incidents as i on i.id = e.incident_id order by i.monitor_id, i.id, e.id`,
    sql<{ body: string }[]>`
      select e.account_id, e.type, e.monitor_id, i.monitor_id as incident_of, e.is_flapping, e.created_at,
        jsonb_set(e.body::jsonb - 'id', '{data,incident_id}', coalesce(to_jsonb(i.monitor_id), 'null'))::text as body
      from events as e left join incidents as i on i.id = e.incident_id and i.id = (e.body::json->'data'->>'incident_id')::bigint
      order by e.monitor_id, e.created_at, e.type`,
    sql`select e.monitor_id, e.type, d.account_id, d.channel, d.receiver_id, d.recipient, d.status, d.due_at, d.released_at,
        d.created_at, row_number() over (partition by d.event_id order by d.id) as place
      from deliveries as d join events as e on e.id = d.event_id
      order by e.monitor_id, e.created_at, e.type, d.id`,
    sql`select monitor_id, at, status from monitor_status_changes order by monitor_id, id`,
    sql`select monitor_id, hour from late_hours order by monitor_id, hour`,
  ]);
  return { incidents, entries, events, deliveries, statuses, hours };
}
