import type { Transaction } from "#control-plane/database/connect.ts";
import { createPace, type Pace } from "#control-plane/pace.ts";
import { findChainProblem } from "#control-plane/monitors/dependencies.ts";
import type { MonitorDraft } from "#control-plane/monitors/monitor.ts";
import { refuseGone, refuseInside, refuseProblem, type Written } from "#control-plane/monitors/refusal.ts";
import { MASK } from "#control-plane/monitors/settings/secrets.ts";
import { lockAccount } from "#control-plane/monitors/account/store.ts";
import { areMasked, fillMasks, hideMasks, type Masks } from "#control-plane/monitors/settings/masks.ts";
import { readOwnSecrets } from "#control-plane/monitors/transfer/own-secrets.ts";
import { pathOf } from "#control-plane/monitors/transfer/row.ts";
import type { DocumentRows } from "#control-plane/monitors/transfer/rows.ts";
import { vetCreation, type VetContext } from "#control-plane/monitors/vet.ts";
import { insertDrafts, refuseOverAllowance } from "#control-plane/monitors/write/create.ts";
import { vetContext, type WriteDeps } from "#control-plane/monitors/write/deps.ts";

/** A row whose fields are checked; `parent` is the name of the row it depends on. */
interface VettedRow {
  readonly draft: MonitorDraft;
  readonly masks: Masks;
  readonly parent: string | null;
}

/** A checked row; `parent` is the index of the row it depends on. */
interface CheckedRow {
  readonly draft: MonitorDraft;
  readonly parent: number | null;
}

/** A value of the document that the created monitor does not have. */
interface LeftOut {
  /** Path in the document. */
  readonly field: string;
  readonly message: string;
}

/** What an import has created, or would create. */
export interface Imported {
  /** In the order of the rows; none for a dry run. */
  readonly ids: readonly number[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Creates the monitors of a document, all or none; a dry run makes the same checks. A masked secret is that of the
 * account's own monitor with the same name and url; without one the monitor is created without it.
 */
export async function importMonitors(
  deps: WriteDeps,
  tx: Transaction,
  accountId: number,
  rows: DocumentRows,
  isDryRun: boolean,
): Promise<Written<Imported>> {
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  const plan = deps.plans[account.plan];
  const full = refuseOverAllowance(account, plan, rows.count);
  if (full !== null) return full;
  const checked = await checkRows({ ...vetContext(deps), accountId, plan }, rows, createPace(deps.clock));
  if (!checked.ok) return checked;
  const linked = linkRows(checked.value);
  if (!linked.ok) return linked;
  const isMasked = checked.value.some(({ masks }) => areMasked(masks));
  const find = isMasked ? await readOwnSecrets(tx, deps.encryption, accountId) : () => [];
  const filled = linked.value.map(({ draft, parent }, index) => {
    const masks = checked.value[index]?.masks;
    return masks === undefined || !areMasked(masks)
      ? { draft, parent, missing: [] }
      : { parent, ...fillMasks(draft, masks, find(draft)) };
  });
  const leftOut = filled.flatMap(({ missing }, index) =>
    missing.map(({ field, reason }) => describeMissing(`${pathOf(index)}.${field}`, reason)),
  );
  const ids = isDryRun ? [] : await insertDrafts(deps, tx, account, filled);
  return { ok: true, value: { ids, leftOut } };
}

function describeMissing(field: string, reason: "unknown" | "ambiguous"): LeftOut {
  const why =
    reason === "unknown"
      ? "no monitor of your account with this name and url has a value for it"
      : "several monitors of your account with this name and url have different values for it";
  return { field, message: `"${field}" was left out: it is masked (${MASK}), and ${why}. Set it in the new monitor.` };
}

/** Checks the fields of every row, in pieces: thousands of rows take seconds. */
async function checkRows(context: VetContext, rows: DocumentRows, pace: Pace): Promise<Written<readonly VettedRow[]>> {
  const checked: VettedRow[] = [];
  for (const read of rows.read()) {
    if (!read.ok) return refuseProblem(read.problem);
    const { given, parent } = read.value;
    const hidden = hideMasks(given);
    const vetted = vetCreation(context, hidden.given);
    if (!vetted.ok) return refuseInside(pathOf(checked.length), vetted.refusal);
    checked.push({ draft: vetted.value, masks: hidden.masks, parent });
    // oxlint-disable-next-line no-await-in-loop -- gives the loop back
    if (pace.isDue()) await pace.rest();
  }
  return { ok: true, value: checked };
}

/** Replaces the names of rows by their indexes. */
function linkRows(rows: readonly VettedRow[]): Written<readonly CheckedRow[]> {
  const named = Map.groupBy(rows.keys(), (index) => rows[index]?.draft.name);
  const parents = new Map<number, number>();
  const linked: CheckedRow[] = [];
  for (const [index, { draft, parent: name }] of rows.entries()) {
    if (name === null) {
      linked.push({ draft, parent: null });
      continue;
    }
    const field = `${pathOf(index)}.depends_on`;
    const [parent, other] = named.get(name.trim()) ?? [];
    if (parent === undefined) {
      return refuseProblem({ field, reason: "unknown", message: "no row of the document has this name" });
    }
    if (other !== undefined) {
      return refuseProblem({ field, reason: "duplicate", message: "more than one row of the document has this name" });
    }
    const problem = findChainProblem(parents, index, parent);
    if (problem !== null) return refuseProblem({ field, reason: "range", message: problem });
    parents.set(index, parent);
    linked.push({ draft, parent });
  }
  return { ok: true, value: linked };
}
