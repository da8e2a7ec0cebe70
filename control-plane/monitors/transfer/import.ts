import type { Change } from "#control-plane/http/access/changes.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type {
  DocumentPart,
  RowChange,
  RowCounts,
  RowProblem,
  WrittenPart,
} from "#control-plane/accounts/document-part.ts";
import { createYielder } from "#control-plane/core/yielder.ts";
import { refuseGone, refuseWrite, type Refused, type Written } from "#control-plane/http/written.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import { lockAccount, type MonitorAccount } from "#control-plane/monitors/account-store.ts";
import { checkRows, type CheckedRow } from "#control-plane/monitors/transfer/check-rows.ts";
import { linkRows, type LinkedRows } from "#control-plane/monitors/transfer/link-rows.ts";
import { readOwnMonitors } from "#control-plane/monitors/transfer/own-monitors.ts";
import { refuseProblems } from "#control-plane/monitors/transfer/problems.ts";
import { placeOf } from "#control-plane/monitors/transfer/row.ts";
import type { ImportedDocument } from "#control-plane/monitors/transfer/rows.ts";
import { refuseOverAllowance, insertDrafts } from "#control-plane/monitors/write/create.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import { changeOf, differencesOf } from "#control-plane/monitors/changed-fields.ts";
import { findMonitors } from "#control-plane/monitors/store.ts";
import { changeRows, type Update } from "#control-plane/monitors/transfer/change-rows.ts";

/** A value of the document that the written monitor does not have, or a row that was left out. */
interface LeftOut {
  /** Path in the document. */
  readonly field: string;
  readonly message: string;
}

/** What an import has done, or would do; the counts are those of the monitors. */
export interface Imported extends RowCounts {
  readonly parts: Readonly<Partial<Record<DocumentPart["name"], RowCounts>>>;
  /** Rows without secrets that their monitors need, which are paused; not of version 1. */
  readonly paused: readonly {
    readonly row: number;
    readonly name: string;
    readonly secrets_missing: readonly string[];
  }[];
  readonly leftOut: readonly LeftOut[];
  /** What is created and changed, for the log of changes; nothing of a dry run. */
  readonly changes: readonly Change[];
  /** The same by the rows of the document. */
  readonly rows: readonly ImportedRow[];
}

/** A row that an import creates or changes. */
interface ImportedRow {
  /** Such as `monitors.3`. */
  readonly row: string;
  readonly action: "created" | "changed";
  /** Dotted names of the fields that change, as rows have them; none of what is created. */
  readonly fields: readonly string[];
}

/** How a document is imported. */
export interface ImportOptions {
  /** The lists beside the monitors. */
  readonly parts: readonly DocumentPart[];
  /** Does everything, and takes it back. */
  readonly isDryRun: boolean;
}

const UNDO = new Error("a dry run is taken back");

/** Makes the account have what a document has, all or nothing. A row of version 1 is always a new monitor. */
export async function importDocument(
  deps: WriteDeps,
  tx: Transaction,
  accountId: number,
  document: ImportedDocument,
  { parts, isDryRun }: ImportOptions,
): Promise<Written<Imported>> {
  if (!isDryRun) return importAll(deps, tx, accountId, document, parts);
  let tried: Written<Imported> | null = null;
  try {
    await tx.savepoint(async (inner) => {
      tried = await importAll(deps, inner as Transaction, accountId, document, parts);
      throw UNDO;
    });
  } catch (error) {
    if (error !== UNDO || tried === null) throw error;
  }
  return withoutIds(tried);
}

/** What a dry run would have created has no ids. */
function withoutIds(tried: Written<Imported> | null): Written<Imported> {
  if (tried === null) throw new Error("a dry run has no result");
  if (!tried.ok) return tried;
  const parts = Object.entries(tried.value.parts).map(([name, counts]) => [name, { ...counts, ids: [] }] as const);
  return { ok: true, value: { ...tried.value, ids: [], parts: Object.fromEntries(parts), changes: [] } };
}

async function importAll(
  deps: WriteDeps,
  tx: Transaction,
  accountId: number,
  document: ImportedDocument,
  parts: readonly DocumentPart[],
): Promise<Written<Imported>> {
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  const plan = deps.plans[account.plan];
  const full = refuseTooMany(account, plan, document);
  if (full !== null) return full;
  const own = await readOwnMonitors(tx, deps.encryption, accountId);
  const context = { checks: deps.checks, accountId, plan, encryption: deps.encryption, own, email: account.email };
  const checked = await checkRows({ ...context, yielder: createYielder(deps.clock) }, document);
  const linked = linkRows(checked, document.version === 1 ? [] : own.all);
  const places = new Map(checked.names.map((name, index) => [name, index]));
  const problems: RowProblem[] = [...checked.problems, ...linked.problems];
  // Stand-ins for the ids, which new monitors do not have yet.
  const standIn = (name: string) => {
    const place = places.get(name);
    return place === undefined ? undefined : place + 1;
  };
  for (const part of parts) problems.push(...part.check(document.parts[part.name], standIn));
  if (problems.length > 0) return refuseProblems(problems);
  const rows = checked.rows.filter((row) => row !== null);
  const added = rows.filter((row) => row.own === null).length;
  const more = added === 0 ? null : refuseOverAllowance(account, plan, added);
  if (more !== null) return more;
  const monitors = await writeRows(deps, tx, account, rows, linked);
  if (monitors.problems.length > 0) return refuseProblems(monitors.problems);
  const idOf = (name: string) => monitors.counts.ids[places.get(name) ?? -1];
  const written = new Map<DocumentPart["name"], WrittenPart>();
  // oxlint-disable-next-line no-await-in-loop -- one connection
  for (const part of parts) written.set(part.name, await part.import(tx, accountId, document.parts[part.name], idOf));
  const all = [...written.values()];
  const late = all.flatMap((part) => part.problems);
  if (late.length > 0) return refuseProblems(late);
  const isOld = document.version === 1;
  const changed = [
    { name: "monitors", changes: monitors.changes },
    ...Array.from(written, ([name, { changes }]) => ({ name, changes })),
  ] as const;
  return {
    ok: true,
    value: {
      ...monitors.counts,
      parts: isOld ? {} : Object.fromEntries(Array.from(written, ([name, { counts }]) => [name, counts])),
      paused: isOld ? [] : pausedRows(rows),
      leftOut: [...rows.flatMap((row, index) => leftOutOf(row, index, isOld)), ...all.flatMap((part) => part.leftOut)],
      changes: changed.flatMap(({ changes }) => changes.map(({ change }) => change)),
      rows: changed.flatMap(({ name, changes }) => changes.map((one) => toImportedRow(name, one))),
    },
  };
}

/** Monitors are named in rows, and have their ids in the API. */
const ROW_NAMES: Readonly<Record<string, string>> = {
  "composite.monitor_ids": "composite.monitors",
  monitor_ids: "monitors",
};

function toImportedRow(list: "monitors" | DocumentPart["name"], { index, change }: RowChange): ImportedRow {
  const { changed = [] } = change;
  const fields = changed.map(({ field }) => ROW_NAMES[field] ?? field);
  return { row: placeOf(list, index), action: change.action === "created" ? "created" : "changed", fields };
}

/** Refuses more rows than the account can have monitors, before a row is looked at. */
function refuseTooMany(
  account: MonitorAccount,
  plan: Parameters<typeof refuseOverAllowance>[1],
  { version, monitors }: ImportedDocument,
): Refused | null {
  if (version === 1) return refuseOverAllowance(account, plan, monitors.count);
  // After a downgrade it has more than the plan allows.
  if (monitors.count <= Math.max(plan.monitors, account.total)) return null;
  const message = `The plan allows ${plan.monitors} monitors, paused ones included; the document has ${monitors.count}.`;
  return refuseWrite({ code: "plan_limit_exceeded", field: "monitors", message });
}

function pausedRows(rows: readonly CheckedRow[]): Imported["paused"] {
  return rows.flatMap(({ draft, missing }, row) =>
    missing.length === 0 ? [] : [{ row, name: draft.name, secrets_missing: missing.map(({ field }) => field) }],
  );
}

function leftOutOf({ missing, own }: CheckedRow, index: number, isOld: boolean): readonly LeftOut[] {
  return missing.map(({ field: name, reason }) => {
    const field = `${placeOf("monitors", index)}.${name}`;
    if (isOld) {
      const why =
        reason === "unknown"
          ? "no monitor of your account with this name and url has a value for it"
          : "several monitors of your account with this name and url have different values for it";
      const message = `"${field}" was left out: it is masked (${MASK}), and ${why}. Set it in the new monitor.`;
      return { field, message };
    }
    const why =
      own === null ? "you have no monitor with this name" : "your monitor with this name has none for its url";
    return { field, message: `"${field}" is missing: ${why}. The monitor is paused; set it there and resume it.` };
  });
}

/** The result of an import for the monitors of a document. */
interface WrittenRows {
  readonly counts: RowCounts;
  readonly problems: readonly RowProblem[];
  readonly changes: readonly RowChange[];
}

/** Writes checked rows: the new monitors at once, then those that differ. */
async function writeRows(
  deps: WriteDeps,
  tx: Transaction,
  account: MonitorAccount,
  rows: readonly CheckedRow[],
  { parents, members }: Pick<LinkedRows, "parents" | "members">,
): Promise<WrittenRows> {
  const made = rows.flatMap((row, index) => (row.own === null ? [{ row, index }] : []));
  const places = new Map(made.map(({ index }, place) => [index, place]));
  const drafts = made.map(({ row: { draft }, index }) => {
    const parent = parents[index] ?? null;
    const own = parent === null ? null : (rows[parent]?.own?.id ?? null);
    return { draft: { ...draft, depends_on: own }, parent: parent === null ? null : (places.get(parent) ?? null) };
  });
  const inserted = drafts.length === 0 ? [] : await insertDrafts(deps, tx, account, drafts);
  const ids = rows.map(({ own }, index) => own?.id ?? inserted[places.get(index) ?? -1] ?? 0);
  const updates = rows.flatMap((row, index) =>
    updateOf(row, index, { parent: parents[index], members: members[index] }, ids),
  );
  // What new composites follow can be new too, and has its ids now.
  const composites = made.filter(({ row }) => row.draft.composite !== null);
  const added = await findMonitors(
    tx,
    account.id,
    composites.map(({ index }) => ids[index] ?? 0),
  );
  const stored = new Map(added.map((monitor) => [monitor.id, monitor]));
  const followings = composites.flatMap(({ index }): readonly Update[] => {
    const own = stored.get(ids[index] ?? 0);
    const composite = { monitor_ids: idsOf(members[index] ?? [], ids) };
    return own === undefined ? [] : [{ index, own, given: { composite } }];
  });
  const begun = made.filter(({ row }) => row.draft.is_active).length;
  const changed = await changeRows(deps, tx, { ...account, active: account.active + begun }, [
    ...updates,
    ...followings,
  ]);
  return {
    counts: {
      created: made.length,
      updated: updates.length,
      unchanged: rows.length - made.length - updates.length,
      ids,
    },
    problems: changed.problems,
    changes: [
      ...made.map(({ row: { draft }, index }) => {
        return { index, change: changeOf({ id: ids[index] ?? 0, name: draft.name }, "created") };
      }),
      ...changed.drafted.flatMap(({ index, stored: { id }, present, draft }) => {
        const change = changeOf({ id, name: draft.name }, "changed", differencesOf(present, draft));
        return stored.has(id) ? [] : [{ index, change }];
      }),
    ],
  };
}

/** Returns the change of a row's monitor; none if it is new or as the row has it. */
function updateOf(
  { own, given, isChanged }: CheckedRow,
  index: number,
  { parent, members }: { readonly parent: number | null | undefined; readonly members: readonly number[] | undefined },
  ids: readonly number[],
): readonly Update[] {
  if (own === null) return [];
  const followed = members === undefined ? undefined : idsOf(members, ids);
  const isFollowing =
    followed !== undefined && JSON.stringify(followed) !== JSON.stringify(own.settings.composite?.monitor_ids);
  const dependsOn = parent === undefined ? own.dependsOn : parent === null ? null : (ids[parent] ?? null);
  if (!isChanged && dependsOn === own.dependsOn && !isFollowing) return [];
  const composite = isFollowing ? { composite: { ...given.composite, monitor_ids: followed } } : {};
  return [{ index, own, given: { ...given, ...composite, depends_on: dependsOn } }];
}

function idsOf(indexes: readonly number[], ids: readonly number[]): number[] {
  return indexes.map((index) => ids[index] ?? 0);
}
