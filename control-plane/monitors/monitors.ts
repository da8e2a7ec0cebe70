import type { Sql, Queryable, Transaction } from "#control-plane/database/connect.ts";
import { applyPlan } from "#control-plane/monitors/allowance.ts";
import type { RecentCheck } from "#control-plane/history/recent.ts";
import type { Statistics } from "#control-plane/monitors/ports.ts";
import type { Written } from "#control-plane/monitors/refusal.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { showMonitors } from "#control-plane/monitors/show.ts";
import { isAccountMailed, readEmail } from "#control-plane/monitors/account/store.ts";
import {
  countMonitors,
  findMonitor,
  listMonitors,
  listMonitorsAfter,
  lockMonitors,
  readIds,
  readOwned,
  type MonitorFilter,
  type StoredMonitor,
} from "#control-plane/monitors/store.ts";
import { exportMonitors, type ExportedMonitors } from "#control-plane/monitors/transfer/export.ts";
import { importDocument, type Imported, type ImportOptions } from "#control-plane/monitors/transfer/import.ts";
import type { ImportedDocument } from "#control-plane/monitors/transfer/rows.ts";
import type { MonitorView } from "#control-plane/monitors/view.ts";
import { changeMonitor } from "#control-plane/monitors/write/change.ts";
import { createMonitor } from "#control-plane/monitors/write/create.ts";
import type { OwnMonitor, WriteDeps } from "#control-plane/monitors/write/deps.ts";
import {
  acceptPicture,
  removeMonitor,
  requestMailTest,
  requestRun,
  rotateToken,
} from "#control-plane/monitors/write/remove.ts";

/** A monitor as a single read shows it. */
interface FoundMonitor {
  readonly monitor: MonitorView;
  readonly checks: readonly RecentCheck[];
}

/** A monitor with a new address for pings. */
type CreatedMonitor = MonitorView & {
  /** A line for a crontab that sends the pings of a heartbeat; absent for other monitors. */
  readonly cron_line?: string;
};

/** A monitor after a change. */
interface ChangedMonitor {
  readonly monitor: MonitorView;
  /** Secrets that were removed because the url leads to another origin, as dotted names of fields. */
  readonly removed: readonly string[];
}

/** The monitors of accounts. Writes belong to the caller's transaction, which a refusal rolls back. */
export interface Monitors {
  create(tx: Transaction, accountId: number, given: Given): Promise<Written<CreatedMonitor>>;
  /** Changes a monitor. `statistics` are those of `statisticsOf`, read before the transaction. */
  change(
    tx: Transaction,
    monitor: OwnMonitor,
    given: Given,
    statistics: ReadonlyMap<number, Statistics>,
  ): Promise<Written<ChangedMonitor>>;
  /** Returns the statistics of a monitor; none if the account has none with this id. */
  statisticsOf(monitor: OwnMonitor): Promise<ReadonlyMap<number, Statistics>>;
  /** Deletes a monitor; its open incident is resolved without an event. */
  remove(tx: Transaction, monitor: OwnMonitor): Promise<Written<number>>;
  /** Replaces the address of a heartbeat; the present one stops working. */
  rotate(tx: Transaction, monitor: OwnMonitor): Promise<Written<CreatedMonitor>>;
  /** Accepts the newest picture of a visual monitor. */
  accept(tx: Transaction, monitor: OwnMonitor): Promise<Written<MonitorView>>;
  /** Requests a check now, at most six times a minute. */
  run(tx: Transaction, monitor: OwnMonitor): Promise<Written<number>>;
  /** Allows a test of the mails about a monitor, once a minute. Returns its name and the addresses that it mails to. */
  testMail(
    tx: Transaction,
    monitor: OwnMonitor,
  ): Promise<Written<{ readonly name: string; readonly emails: readonly string[] }>>;
  /** Makes the account have what a document has, all or nothing; a dry run changes nothing. */
  import(
    tx: Transaction,
    accountId: number,
    document: ImportedDocument,
    options: ImportOptions,
  ): Promise<Written<Imported>>;
  /** Finds a monitor with its 20 newest checks, newest first; null if the account has none with this id. */
  find(accountId: number, id: number): Promise<FoundMonitor | null>;
  /** Returns whether the account has a monitor with this id. */
  has(accountId: number, id: number): Promise<boolean>;
  /** Lists a page of an account's monitors, newest first, and the total number. */
  list(
    accountId: number,
    filter: MonitorFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly rows: readonly MonitorView[]; readonly total: number }>;
  /** Returns all monitors of an account as rows of a document, oldest first. */
  exportRows(sql: Queryable, accountId: number, withSecrets: boolean): Promise<ExportedMonitors>;
  /** Returns the monitors of an account for its data export, without statistics. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Adapts the monitors to the plan of their account. Call it in the transaction that changes the account. */
  accountChanged(sql: Queryable, accountId: number): Promise<void>;
  /**
   * Asks the owner of an account's new address to confirm it, if a monitor mails to it. Call it in the transaction that
   * changes the address.
   */
  addressChanged(sql: Queryable, accountId: number): Promise<void>;
  /** Ends the checks of an account that is erased. Call it in the transaction, once the account is locked. */
  accountErased(sql: Queryable, accountId: number): Promise<void>;
  /** Returns which of these ids are monitors of the account. */
  owned(sql: Queryable, accountId: number, ids: readonly number[]): Promise<ReadonlySet<number>>;
}

/** Dependencies of monitors. */
interface MonitorsDeps extends WriteDeps {
  readonly sql: Sql;
}

const NO_STATISTICS: ReadonlyMap<number, Statistics> = new Map();
const MOST_CHECKS = 20;
/** Number of monitors that are read at once. */
const STEP = 100;

/** Opens the monitors of one replica. */
export function createMonitors(deps: MonitorsDeps): Monitors {
  const { sql, encryption, ports } = deps;

  /** Reads monitors outside a transaction. */
  async function showAll(monitors: readonly StoredMonitor[]): Promise<readonly MonitorView[]> {
    return showMonitors(deps, sql, monitors, ports.knowledge.statistics(monitors));
  }

  /** A heartbeat has pings and no checks. */
  async function findHeartbeat(monitor: StoredMonitor): Promise<FoundMonitor | null> {
    const [[view], pings] = await Promise.all([showAll([monitor]), ports.heartbeats.pings(sql, monitor.id)]);
    if (view === undefined) return null;
    const heartbeat = view.heartbeat === null ? null : { ...view.heartbeat, pings };
    return { monitor: { ...view, heartbeat }, checks: [] };
  }

  async function readBack(
    tx: Transaction,
    { accountId, id }: OwnMonitor,
    statistics: ReadonlyMap<number, Statistics>,
  ): Promise<Written<MonitorView>> {
    const monitor = await findMonitor(tx, accountId, id);
    const [view] = monitor === null ? [] : await showMonitors(deps, tx, [monitor], statistics);
    if (view === undefined) throw new Error("the monitor that was just written is missing");
    return { ok: true, value: view };
  }

  /** Adds the line for a crontab to a heartbeat. */
  function withCronLine(written: Written<MonitorView>): Written<CreatedMonitor> {
    if (!written.ok) return written;
    const { heartbeat, heartbeat_url: url } = written.value;
    if (heartbeat === null || url === null) return written;
    return { ok: true, value: { ...written.value, cron_line: ports.heartbeats.cronLine(heartbeat, url) } };
  }

  async function* eachStep(on: Queryable, accountId: number): AsyncGenerator<readonly StoredMonitor[]> {
    for (let after = 0; ;) {
      const monitors = await listMonitorsAfter(on, accountId, after, STEP);
      yield monitors;
      if (monitors.length < STEP) return;
      after = monitors.at(-1)?.id ?? 0;
    }
  }

  return {
    async create(tx, accountId, given) {
      const created = await createMonitor(deps, tx, accountId, given);
      if (!created.ok) return created;
      return withCronLine(await readBack(tx, { accountId, id: created.value }, NO_STATISTICS));
    },
    async change(tx, monitor, given, statistics) {
      const changed = await changeMonitor(deps, tx, monitor, given);
      if (!changed.ok) return changed;
      const read = await readBack(tx, monitor, statistics);
      return read.ok ? { ok: true, value: { monitor: read.value, removed: changed.value.removed } } : read;
    },
    async statisticsOf({ accountId, id }) {
      const monitor = await findMonitor(sql, accountId, id);
      return monitor === null ? NO_STATISTICS : ports.knowledge.statistics([monitor]);
    },
    remove: (tx, monitor) => removeMonitor(deps, tx, monitor),
    async rotate(tx, monitor) {
      const rotated = await rotateToken(deps, tx, monitor);
      return rotated.ok ? withCronLine(await readBack(tx, monitor, NO_STATISTICS)) : rotated;
    },
    async accept(tx, monitor) {
      const accepted = await acceptPicture(deps, tx, monitor);
      return accepted.ok ? readBack(tx, monitor, NO_STATISTICS) : accepted;
    },
    run: (tx, monitor) => requestRun(deps, tx, monitor),
    testMail: (tx, monitor) => requestMailTest(deps, tx, monitor),
    import: (tx, accountId, document, options) => importDocument(deps, tx, accountId, document, options),
    async find(accountId, id) {
      const monitor = await findMonitor(sql, accountId, id);
      if (monitor === null) return null;
      if (monitor.settings.heartbeat !== null) return findHeartbeat(monitor);
      const [[view], checks] = await Promise.all([
        showAll([monitor]),
        ports.knowledge.recentChecks(monitor, MOST_CHECKS),
      ]);
      return view === undefined ? null : { monitor: view, checks };
    },
    has: async (accountId, id) => (await readOwned(sql, accountId, [id])).has(id),
    async list(accountId, filter, page) {
      const [monitors, total] = await Promise.all([
        listMonitors(sql, accountId, filter, page),
        countMonitors(sql, accountId, filter),
      ]);
      return { rows: await showAll(monitors), total };
    },
    async exportRows(queryable, accountId, withSecrets) {
      const monitors: StoredMonitor[] = [];
      for await (const step of eachStep(queryable, accountId)) monitors.push(...step);
      return exportMonitors(encryption, monitors, withSecrets);
    },
    async export(queryable, accountId) {
      const views: MonitorView[] = [];
      for await (const step of eachStep(queryable, accountId)) {
        const shown = await showMonitors(deps, queryable, step, NO_STATISTICS);
        // No key is needed to send pings to the address of a heartbeat: it stays out of files.
        views.push(...shown.map((view) => ({ ...view, heartbeat_url: null })));
      }
      return views;
    },
    accountChanged: (queryable, accountId) => applyPlan(deps, queryable, accountId),
    async addressChanged(queryable, accountId) {
      const tx = queryable as Transaction;
      const email = await readEmail(tx, accountId);
      if (email === null || !(await isAccountMailed(tx, accountId))) return;
      await ports.mail.ensureRecipients(tx, accountId, [email]);
    },
    async accountErased(queryable, accountId) {
      const tx = queryable as Transaction;
      const ids = await readIds(tx, accountId);
      await lockMonitors(tx, ids);
      await ports.schedule.remove(tx, ids);
    },
    owned: readOwned,
  };
}
