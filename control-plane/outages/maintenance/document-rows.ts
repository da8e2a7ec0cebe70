import { refuse, type Read } from "#shared/schema/problem.ts";
import { Type, type Static } from "typebox";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "#shared/text/is-record.ts";
import { parseParams } from "#shared/schema/schema.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { DocumentPart, IdOfName, RowChange, RowProblem } from "#control-plane/accounts/document-part.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import type { RefusedField } from "#control-plane/http/errors.ts";
import type { WriteRefusal } from "#control-plane/http/written.ts";
import { announceWindow } from "#control-plane/outages/maintenance/announcement.ts";
import { MOST_WINDOWS, type Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { readWindow } from "#control-plane/outages/maintenance/read-window.ts";
import { type Given, maintenanceWindow } from "#control-plane/outages/maintenance/resource.ts";
import { listWindows } from "#control-plane/outages/maintenance/store.ts";
import { changeOf, showWindow } from "#control-plane/outages/maintenance/serialize.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";

const LIST = "maintenance";
/** Maximum number of windows that are read: more than an account has that are not over, and the newest that are. */
const MOST_READ = 10_000;

const { monitor_ids: _ids, ...FIELDS } = maintenanceWindow.create.properties;

const ROW = Type.Object({
  ...FIELDS,
  monitors: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 1_000,
      description: "Names of monitors of the document that the window covers",
    }),
  ),
});

/**
 * Creates the maintenance of a document: a row is the window with its title and start, or a new one. Windows that are
 * over are not exported, and a row that is over and no window of the account is left out.
 */
export function createWindowRows({
  clock,
  maintenance,
  events,
}: Pick<App, "clock"> & { readonly maintenance: Maintenance; readonly events: Events }): DocumentPart {
  return {
    name: LIST,
    row: ROW,
    async export(sql, accountId, nameOf) {
      const windows = await readWindows(sql, accountId, clock.now());
      const open = windows.filter(({ status }) => status === "scheduled" || status === "in_progress");
      // One whose monitors were deleted covers nothing, and cannot be created.
      return open
        .map((window) => rowOf(window, nameOf))
        .filter(({ monitors, tags }) => monitors.length + tags.length > 0);
    },
    check(rows, idOf) {
      const problems: RowProblem[] = [];
      let index = 0;
      for (const row of rows) {
        const read = readRow(row, idOf);
        const window = read.ok ? readWindow(read.value, null, BEGINNING) : read;
        if (!window.ok) problems.push(problemAt(index, window.problem));
        index += 1;
      }
      return problems;
    },
    async import(tx, accountId, rows, idOf) {
      const now = clock.now();
      const counts = { created: 0, updated: 0, unchanged: 0 };
      const [ids, problems, changes]: [number[], RowProblem[], RowChange[]] = [[], [], []];
      const leftOut: { field: string; message: string }[] = [];
      const own = Map.groupBy(await readWindows(tx, accountId, now), keyOf);
      let index = -1;
      for (const row of rows) {
        index += 1;
        const read = readRow(row, idOf);
        const settings = read.ok ? readWindow(read.value, null, BEGINNING) : read;
        if (!read.ok || !settings.ok) throw new Error("a row was not checked");
        const window = own.get(keyOf(settings.value))?.shift() ?? null;
        const given = window?.isCancelled === true ? { ...read.value, status: "scheduled" as const } : read.value;
        const fitted = readWindow(given, window, now);
        if (window !== null && fitted.ok && isDeepStrictEqual({ ...window, ...fitted.value }, window)) {
          ids.push(window.id);
          counts.unchanged += 1;
          continue;
        }
        if (!fitted.ok) {
          leftOut.push({ field: `${LIST}.${index}`, message: `"${LIST}.${index}" was left out: the window is over.` });
          continue;
        }
        // oxlint-disable-next-line no-await-in-loop -- one connection
        const written = await (window === null
          ? maintenance.create(tx, accountId, given)
          : maintenance.change(tx, accountId, window.id, given));
        if (!written.ok) {
          problems.push(refusalAt(index, written.refusal));
          continue;
        }
        const { window: changed, isNews, before } = written.value;
        // oxlint-disable-next-line no-await-in-loop -- one connection
        if (isNews) await announceWindow(tx, events, { accountId, window: changed, at: clock.now() });
        const { id } = changed;
        ids.push(id);
        counts[window === null ? "created" : "updated"] += 1;
        changes.push({ index, change: changeOf(changed, before) });
      }
      return { counts: { ...counts, ids }, problems, changes, leftOut };
    },
  };
}

/** Before every window: a row that is over has no other problem. */
const BEGINNING = new Date(0);

/** Reads the windows of an account, oldest first. */
async function readWindows(sql: Queryable, accountId: number, now: Date): Promise<readonly MaintenanceWindow[]> {
  const windows = await listWindows(sql, accountId, {}, now, { limit: MOST_READ, offset: 0 });
  return windows.toReversed();
}

function keyOf({ title, startsAt }: Pick<MaintenanceWindow, "title" | "startsAt">): string {
  return `${startsAt.getTime()} ${title}`;
}

/** Returns a window as a row: every field that can be written. */
function rowOf(window: MaintenanceWindow, nameOf: (id: number) => string | undefined) {
  const { monitor_ids: monitorIds, ...shown } = showWindow(window);
  const fields = Object.entries(shown).filter(([name]) => !maintenanceWindow.ignoredInCreation.includes(name));
  const monitors = monitorIds.flatMap((id) => nameOf(id) ?? []);
  return { ...(Object.fromEntries(fields) as Omit<Static<typeof ROW>, "monitors">), tags: shown.tags, monitors };
}

/** Reads a row; monitors get the ids of their names. */
function readRow(row: unknown, idOf: IdOfName): Read<Given> {
  if (!isRecord(row)) return refuse("", "type", "must be an object of at most 262144 characters");
  const parsed = parseParams(ROW, row, {
    from: "json",
    unknown: "refuse",
    readOnly: maintenanceWindow.ignoredInCreation,
  });
  if (!parsed.ok) return parsed;
  const { monitors, ...fields } = parsed.value;
  if (monitors === undefined) return { ok: true, value: fields };
  const ids: number[] = [];
  for (const [index, name] of monitors.entries()) {
    const id = idOf(name.trim());
    if (id === undefined) return refuse(`monitors.${index}`, "unknown", "no monitor of the document has this name");
    ids.push(id);
  }
  return { ok: true, value: { ...fields, monitor_ids: ids } };
}

function problemAt(index: number, { field, reason, message }: RefusedField): RowProblem {
  const named = field === "monitor_ids" ? "monitors" : field;
  return { row: `${LIST}.${index}`, field: named === "" ? null : named, reason, message, code: "missing_parameter" };
}

function refusalAt(index: number, { code, field = "", reason = code, message: why }: WriteRefusal): RowProblem {
  if (code === "missing_parameter") return problemAt(index, { field, reason, message: why });
  const message = `an account has at most ${MOST_WINDOWS} maintenance windows that are scheduled or in progress`;
  return { ...problemAt(index, { field: "", reason: "range", message }), code: "plan_limit_exceeded" };
}
