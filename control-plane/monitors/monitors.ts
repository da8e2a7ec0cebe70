import type { App } from "#control-plane/core/app.ts";
import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { writeCronLine } from "#control-plane/watching/heartbeats/cron-line.ts";
import { readShownPings } from "#control-plane/watching/heartbeats/shown-pings.ts";
import type { History, Statistics } from "#control-plane/outages/history/history.ts";
import type { RecentCheck } from "#control-plane/outages/history/recent.ts";
import { followAccounts } from "#control-plane/monitors/account.ts";
import { changeMonitors, type ManyChanged } from "#control-plane/monitors/bulk/bulk.ts";
import type { BulkChange } from "#control-plane/monitors/bulk/parse.ts";
import type { Written } from "#control-plane/http/written.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { readOverview, type ListedMonitor } from "#control-plane/monitors/overview.ts";
import { showMonitors, type ShowDeps } from "#control-plane/monitors/show.ts";
import { monitorsInSteps } from "#control-plane/monitors/steps.ts";
import {
  countMonitors,
  findMonitor,
  listMonitors,
  readOwned,
  type MonitorFilter,
  type StoredMonitor,
} from "#control-plane/monitors/store.ts";
import { exportMonitors, type ExportedMonitors } from "#control-plane/monitors/transfer/export.ts";
import { importDocument, type Imported, type ImportOptions } from "#control-plane/monitors/transfer/import.ts";
import type { ImportedDocument } from "#control-plane/monitors/transfer/rows.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import { changeMonitor } from "#control-plane/monitors/write/change.ts";
import { createMonitor } from "#control-plane/monitors/write/create.ts";
import type { OwnMonitor, WriteDeps } from "#control-plane/monitors/write/deps.ts";
import { listMailedTo, takeAddressOut } from "#control-plane/monitors/write/leave.ts";
import {
  acceptNewest,
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
  /** For the log of changes. */
  readonly changed: readonly ChangedField[];
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
  /** Changes many monitors in the same way, all or none; a dry run changes nothing. parseBulk parses the change. */
  changeMany(tx: Transaction, accountId: number, change: BulkChange): Promise<Written<ManyChanged>>;
  /** Returns the statistics of a monitor; none if the account has none with this id. */
  statisticsOf(monitor: OwnMonitor): Promise<ReadonlyMap<number, Statistics>>;
  /** Deletes a monitor; its open incident is resolved without an event. Returns what it was called. */
  remove(tx: Transaction, monitor: OwnMonitor): Promise<Written<{ readonly name: string }>>;
  /** Lists the monitors that have an address in their notify_emails, by name. */
  mailedTo(accountId: number, email: string): Promise<readonly { readonly id: number; readonly name: string }[]>;
  /**
   * Takes an address out of the notify_emails of the monitors of a locked account; one that mailed to nobody else mails to the
   * address of the account. Returns the monitors with what has changed.
   */
  leave(
    tx: Transaction,
    accountId: number,
    email: string,
  ): Promise<readonly { readonly id: number; readonly name: string; readonly changed: readonly ChangedField[] }[]>;
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
  /** Returns all monitors of an account with their states, newest first: for lists that people look through. */
  overview(accountId: number): Promise<readonly ListedMonitor[]>;
  /** Returns all monitors of an account as rows of a document, oldest first. */
  exportRows(sql: Queryable, accountId: number, withSecrets: boolean): Promise<ExportedMonitors>;
  /** Returns which of these ids are monitors of the account. */
  owned(sql: Queryable, accountId: number, ids: readonly number[]): Promise<ReadonlySet<number>>;
}

const NO_STATISTICS: ReadonlyMap<number, Statistics> = new Map();
const MOST_CHECKS = 20;
/** Number of monitors that are read at once. */
const STEP = 100;

/** Opens the monitors of one replica. */
export function createMonitors(
  deps: WriteDeps &
    ShowDeps &
    Pick<App, "sql"> & { readonly accounts: Accounts; readonly history: Pick<History, "summarise" | "recentChecks"> },
): Monitors {
  const { sql, encryption, history } = deps;
  followAccounts(deps.accounts, deps);

  /** Reads monitors outside a transaction. */
  async function showAll(monitors: readonly StoredMonitor[]): Promise<readonly MonitorView[]> {
    return showMonitors(deps, sql, monitors, history.summarise(monitors));
  }

  /** A heartbeat has pings and no checks. */
  async function findHeartbeat(monitor: StoredMonitor): Promise<FoundMonitor | null> {
    const [[view], pings] = await Promise.all([showAll([monitor]), readShownPings(sql, monitor.id)]);
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
    return { ok: true, value: { ...written.value, cron_line: writeCronLine(heartbeat, url) } };
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
      if (!read.ok) return read;
      return { ok: true, value: { ...changed.value, monitor: read.value } };
    },
    changeMany: (tx, accountId, change) => changeMonitors(deps, tx, accountId, change),
    async statisticsOf({ accountId, id }) {
      const monitor = await findMonitor(sql, accountId, id);
      return monitor === null ? NO_STATISTICS : history.summarise([monitor]);
    },
    remove: (tx, monitor) => removeMonitor(deps, tx, monitor),
    mailedTo: (accountId, email) => listMailedTo(sql, accountId, email),
    leave: (tx, accountId, email) => takeAddressOut(deps, tx, accountId, email),
    async rotate(tx, monitor) {
      const rotated = await rotateToken(deps, tx, monitor);
      return rotated.ok ? withCronLine(await readBack(tx, monitor, NO_STATISTICS)) : rotated;
    },
    async accept(tx, monitor) {
      const accepted = await acceptNewest(deps, tx, monitor);
      return accepted.ok ? readBack(tx, monitor, NO_STATISTICS) : accepted;
    },
    run: (tx, monitor) => requestRun(deps, tx, monitor),
    testMail: (tx, monitor) => requestMailTest(deps, tx, monitor),
    import: (tx, accountId, document, options) => importDocument(deps, tx, accountId, document, options),
    async find(accountId, id) {
      const monitor = await findMonitor(sql, accountId, id);
      if (monitor === null) return null;
      if (monitor.settings.heartbeat !== null) return findHeartbeat(monitor);
      const [[view], checks] = await Promise.all([showAll([monitor]), history.recentChecks(monitor, MOST_CHECKS)]);
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
    overview: (accountId) => readOverview(sql, accountId, deps.clock.now()),
    async exportRows(queryable, accountId, withSecrets) {
      const monitors: StoredMonitor[] = [];
      for await (const step of monitorsInSteps(queryable, accountId, STEP)) monitors.push(...step);
      return exportMonitors(encryption, monitors, withSecrets);
    },
    owned: readOwned,
  };
}
