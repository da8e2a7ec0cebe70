import type { FieldProblem } from "#shared/schema/problem.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { refuseAbsent, refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";
import { startEndings } from "#control-plane/outages/maintenance/occurrences/endings.ts";
import { planFrom, planNothing } from "#control-plane/outages/maintenance/occurrences/plan.ts";
import { deleteIdleScopes, replaceOccurrences } from "#control-plane/outages/maintenance/occurrences/store.ts";
import { deleteEnded, planAhead } from "#control-plane/outages/maintenance/occurrences/upkeep.ts";
import { readWindow, scheduleOf } from "#control-plane/outages/maintenance/read-window.ts";
import type { Given } from "#control-plane/outages/maintenance/resource.ts";
import {
  countWindows,
  deleteSpentWindows,
  insertWindow,
  listCoveredTimes,
  listWindows,
  lockAccount,
  lockWindow,
  markAnnounced,
  markDeleted,
  removeMonitors,
  replaceScope,
  updateWindow,
  type WindowFilter,
} from "#control-plane/outages/maintenance/store.ts";
import { showWindow } from "#control-plane/outages/maintenance/serialize.ts";
import type { MaintenanceWindow, WindowSettings } from "#control-plane/outages/maintenance/window.ts";
import { noteAccountChanged } from "#control-plane/core/page-changes.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/** Returns which of these ids are monitors of an account. */
export type MonitorsOf = (sql: Queryable, accountId: number, ids: readonly number[]) => Promise<ReadonlySet<number>>;

/** A window that was written. */
interface WrittenWindow {
  readonly window: MaintenanceWindow;
  /** Whether visitors have to be informed of it. */
  readonly isNews: boolean;
  /** As it was; null if it is new. */
  readonly before: MaintenanceWindow | null;
}

/** The page of a list. */
interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Maintenance windows: times at which accounts expect their monitors to fail. */
export interface Maintenance {
  /** Creates a window. */
  create(tx: Transaction, accountId: number, given: Given): Promise<Written<WrittenWindow>>;
  /** Changes a window from now on; what it has covered stays. */
  change(tx: Transaction, accountId: number, id: number, given: Given): Promise<Written<WrittenWindow>>;
  /** Deletes a window and ends it if it is in progress; what it has covered stays. Returns its title; null if there is none. */
  remove(tx: Transaction, accountId: number, id: number): Promise<string | null>;
  /** Finds a window; null if the account has none with this id. */
  find(accountId: number, id: number): Promise<MaintenanceWindow | null>;
  /** Lists a page of an account's windows that match a filter, newest first, and their total number. */
  list(
    accountId: number,
    filter: WindowFilter,
    page: Page,
  ): Promise<{ readonly windows: readonly MaintenanceWindow[]; readonly total: number }>;
  /** Returns the account's windows, and the times that they covered, for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Runs one round of the housekeeping. Several replicas can run it at the same time. */
  upkeep(): Promise<void>;
  /** Stops the housekeeping. */
  close(): void;
}

const UPKEEP_MS = 600_000;
/** How long what was covered is kept, milliseconds: uptime goes back 90 days, its daily figures two years. */
const KEPT_MS = 2 * 366 * 86_400_000;
const DELETED_AT_ONCE = 100;
/** Most windows of an account that are scheduled or in progress. */
export const MOST_WINDOWS = 100;
const MOST_EXPORTED = 10_000;

/**
 * Opens the maintenance of one replica. `checkDown` has the monitors checked that are down when a window has ended. The
 * windows of an account are part of its data export.
 */
export function openMaintenance(
  deps: Parameters<typeof createMaintenance>[0] & Parameters<typeof startEndings>[0] & { readonly accounts: Accounts },
  teardown: Teardown,
): Maintenance {
  const maintenance = createMaintenance(deps);
  teardown.push(() => maintenance.close());
  const endings = startEndings(deps);
  teardown.push(() => endings.stop());
  deps.accounts.addExporter("maintenance", (tx, accountId) => maintenance.export(tx, accountId));
  return maintenance;
}

/** Creates the maintenance windows of one replica, with their housekeeping. */
export function createMaintenance({
  sql,
  clock,
  log,
  timers,
  monitorsOf,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & { readonly monitorsOf: MonitorsOf }): Maintenance {
  async function findOn(on: Queryable, accountId: number, id: number): Promise<MaintenanceWindow | null> {
    const [window] = await listWindows(on, accountId, { id }, clock.now(), { limit: 1, offset: 0 });
    return window ?? null;
  }

  /** Returns the problem with a monitor that is added and is not the account's; null if there is none. */
  async function findUnknownMonitor(
    tx: Transaction,
    accountId: number,
    { monitorIds }: WindowSettings,
    current: WindowSettings | null,
  ): Promise<FieldProblem | null> {
    const added = monitorIds.filter((id) => current?.monitorIds.includes(id) !== true);
    const owned: ReadonlySet<number> = added.length === 0 ? new Set() : await monitorsOf(tx, accountId, added);
    const unknown = added.find((id) => !owned.has(id));
    if (unknown === undefined) return null;
    return { field: "monitor_ids", reason: "enum", message: `you have no monitor with the id ${unknown}` };
  }

  /** Writes the occurrences of a window that was written; `before`: as it was, null if it is new. The account must be locked. */
  async function finishWrite(
    tx: Transaction,
    window: { readonly id: number; readonly accountId: number },
    settings: WindowSettings,
    before: MaintenanceWindow | null,
    now: Date,
  ): Promise<Written<WrittenWindow>> {
    const plan = settings.isCancelled ? planNothing(now.getTime()) : planFrom(scheduleOf(settings), now.getTime());
    await replaceOccurrences(tx, window, plan, now);
    await deleteIdleScopes(tx, window.id);
    await noteAccountChanged(tx, [window.accountId]);
    const written = await findOn(tx, window.accountId, window.id);
    if (written === null) throw new Error("a window that was written is absent");
    if (isOpen(written) && (before === null || !isOpen(before))) {
      const scheduled = await countWindows(tx, window.accountId, { status: "scheduled" }, now);
      const inProgress = await countWindows(tx, window.accountId, { status: "in_progress" }, now);
      if (scheduled + inProgress > MOST_WINDOWS) {
        const message = `You have ${MOST_WINDOWS} maintenance windows that are scheduled or in progress, the limit. Delete or cancel one first.`;
        return refuseWrite({ code: "plan_limit_exceeded", message });
      }
    }
    const isShownNow = isShown(written) && (before === null || !isShown(before));
    const isNews = isShownNow && (await markAnnounced(tx, window.id, now));
    return { ok: true, value: { window: written, isNews, before } };
  }

  async function upkeep(): Promise<void> {
    const now = clock.now();
    const before = new Date(now.getTime() - KEPT_MS);
    await planAhead(sql, now);
    await deleteEnded(sql, before);
    await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteSpentWindows(sql, before, limit));
  }

  const rounds = startUpkeep({
    everyMs: UPKEEP_MS,
    round: upkeep,
    name: "maintenance: housekeeping",
    log,
    timers,
  });

  return {
    async create(tx, accountId, given) {
      const now = clock.now();
      const read = readWindow(given, null, now);
      if (!read.ok) return refuseProblem(read.problem);
      await lockAccount(tx, accountId);
      const problem = await findUnknownMonitor(tx, accountId, read.value, null);
      if (problem !== null) return refuseProblem(problem);
      const id = await insertWindow(tx, accountId, read.value, now);
      return finishWrite(tx, { id, accountId }, read.value, null, now);
    },
    async change(tx, accountId, id, given) {
      await lockAccount(tx, accountId);
      const current = (await lockWindow(tx, accountId, id)) ? await findOn(tx, accountId, id) : null;
      if (current === null) return refuseAbsent("maintenance window");
      const now = clock.now();
      const read = readWindow(given, current, now);
      if (!read.ok) return refuseProblem(read.problem);
      const problem = await findUnknownMonitor(tx, accountId, read.value, current);
      if (problem !== null) return refuseProblem(problem);
      await updateWindow(tx, id, read.value, now);
      await replaceScope(tx, id, read.value, now);
      return finishWrite(tx, { id, accountId }, read.value, current, now);
    },
    async remove(tx, accountId, id) {
      if (!(await lockWindow(tx, accountId, id))) return null;
      const now = clock.now();
      await replaceOccurrences(tx, { id, accountId }, planNothing(now.getTime()), now);
      const title = await markDeleted(tx, id, now);
      await noteAccountChanged(tx, [accountId]);
      return title;
    },
    find: (accountId, id) => findOn(sql, accountId, id),
    async list(accountId, filter, page) {
      const now = clock.now();
      const [windows, total] = await Promise.all([
        listWindows(sql, accountId, filter, now, page),
        countWindows(sql, accountId, filter, now),
      ]);
      return { windows, total };
    },
    async export(queryable, accountId) {
      const now = clock.now();
      const windows = await listWindows(queryable, accountId, {}, now, { limit: MOST_EXPORTED, offset: 0 });
      const times = await listCoveredTimes(queryable, accountId, now, MOST_EXPORTED);
      return {
        windows: windows.map(showWindow),
        covered: times.map(({ windowId, from, to }) => ({ window_id: windowId, from, to })),
      };
    },
    upkeep,
    close: () => rounds.stop(),
  };
}

/** Removes monitors that are being deleted from the windows that name them. */
export async function removeFromWindows(tx: Transaction, monitorIds: readonly number[]): Promise<void> {
  await removeMonitors(tx, monitorIds);
}

function isOpen({ status }: MaintenanceWindow): boolean {
  return status === "scheduled" || status === "in_progress";
}

/** Reports whether status pages show a window that is not over. */
function isShown(window: MaintenanceWindow): boolean {
  return window.isPublic && isOpen(window);
}
