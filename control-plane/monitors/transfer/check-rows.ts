import type { RowProblem } from "#control-plane/accounts/document-part.ts";
import type { Yielder } from "#control-plane/core/yielder.ts";
import { compareDrafts, draftOf } from "#control-plane/monitors/draft.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { areMasked, fillMasks, hideMasks, type Masks } from "#control-plane/monitors/settings/masks.ts";
import { leaveSecrets } from "#control-plane/monitors/settings/new-origin.ts";
import type { GivenRow } from "#control-plane/monitors/settings/parse.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import type { OwnMonitors } from "#control-plane/monitors/transfer/own-monitors.ts";
import { problemAt, problemOf } from "#control-plane/monitors/transfer/problems.ts";
import { findNoSecret, fitMasks, maskMissing } from "#control-plane/monitors/transfer/row-secrets.ts";
import { MOST_PROBLEMS, type ImportedDocument } from "#control-plane/monitors/transfer/rows.ts";
import { vetCreation, vetUpdate, type VetContext } from "#control-plane/monitors/vet.ts";
import { keepDefaultEmail } from "#control-plane/monitors/write/draft-change.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** A row whose fields are checked; not its dependency. */
export interface CheckedRow {
  /** Its monitor of the account; null if it is a new one. */
  readonly own: StoredMonitor | null;
  readonly draft: MonitorDraft;
  /** What a change of its monitor is given. */
  readonly given: Given;
  /** Whether its monitor differs, apart from the dependency. */
  readonly isChanged: boolean;
  /** The name of the row it depends on; undefined: the row does not say. */
  readonly parent: string | null | undefined;
  /** The names of the rows that it follows; undefined: the row does not say. */
  readonly members: readonly string[] | undefined;
  /** Secrets that it does not get. */
  readonly missing: readonly MissingSecret[];
}

/** A secret that a monitor does not get. */
interface MissingSecret {
  /** `body`, or `request_headers.` and the name of the field. */
  readonly field: string;
  readonly reason: "unknown" | "ambiguous";
}

/** The rows of a document, with those that have problems as their names alone. */
export interface CheckedRows {
  /** By index; null: the row has a problem. */
  readonly rows: readonly (CheckedRow | null)[];
  /** Names in the document, by index. */
  readonly names: readonly (string | undefined)[];
  readonly problems: readonly RowProblem[];
}

/** The check type of a row that names none. */
const DEFAULT_TYPE = "http";

/** Dependencies of the checks. */
interface CheckContext extends VetContext {
  readonly encryption: Encryption;
  readonly own: OwnMonitors;
  /** The address of the account; null if it has none. */
  readonly email: string | null;
  readonly yielder: Yielder;
}

type Vetted<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: RowProblem };
type Checked = Vetted<CheckedRow>;

/**
 * Checks the fields of every row, in pieces: thousands of rows take seconds. Ends after as many problems as an answer
 * names.
 */
export async function checkRows(context: CheckContext, { version, monitors }: ImportedDocument): Promise<CheckedRows> {
  const rows: (CheckedRow | null)[] = [];
  const names: (string | undefined)[] = [];
  const problems: RowProblem[] = [];
  const seen = new Set<string>();
  const check = version === 1 ? checkNew : checkNamed;
  for (const read of monitors.read()) {
    const index = rows.length;
    const name = (read.ok ? read.value.name : read.name)?.trim();
    const found: RowProblem[] = [];
    if (!read.ok) found.push(...read.problems.map((problem) => problemAt(index, problem)));
    else if (version > 1 && name === undefined) {
      const message = "is required: it says which monitor the row is";
      found.push(problemAt(index, { field: "name", reason: "required", message }));
    }
    if (version > 1 && name !== undefined && seen.has(name)) {
      const message = "another row of the document has this name";
      found.push(problemAt(index, { field: "name", reason: "duplicate", message }));
    }
    if (name !== undefined) seen.add(name);
    const checked = read.ok && found.length === 0 ? check(context, index, read.value) : null;
    if (checked?.ok === false) found.push(checked.problem);
    rows.push(checked?.ok === true ? checked.value : null);
    names.push(version === 1 && checked?.ok === true ? checked.value.draft.name : name);
    problems.push(...found);
    if (problems.length >= MOST_PROBLEMS) break;
    // oxlint-disable-next-line no-await-in-loop -- gives the loop back
    if (context.yielder.isDue()) await context.yielder.rest();
  }
  return { rows, names, problems };
}

/** Checks a row of version 1, which is a new monitor: it takes masked secrets from those with its name and url. */
function checkNew(context: CheckContext, index: number, named: GivenRow): Checked {
  const { parent, members, row } = splitNames(named);
  const vetted = vetNew(context, index, row);
  if (!vetted.ok) return vetted;
  const { given, draft: hidden, masks } = vetted.value;
  const { draft, missing } = areMasked(masks)
    ? fillMasks(hidden, masks, context.own.secretsOf(hidden))
    : { draft: hidden, missing: [] };
  return { ok: true, value: { own: null, draft, given, isChanged: true, parent: parent ?? null, members, missing } };
}

/** Checks a row that is the monitor with its name, or a new one. Without a secret that it needs it is paused. */
function checkNamed(context: CheckContext, index: number, given: GivenRow): Checked {
  const own = context.own.named(given.name?.trim() ?? "");
  return own === undefined ? checkUnknown(context, index, given) : checkOwn(context, index, own, given);
}

function checkUnknown(context: CheckContext, index: number, named: GivenRow): Checked {
  const { parent, members, row } = splitNames(named);
  const vetted = vetNew(context, index, row);
  if (!vetted.ok) return vetted;
  const { given, masks } = vetted.value;
  const { draft: filled, missing } = fillMasks(vetted.value.draft, masks, []);
  const draft = missing.length > 0 ? { ...filled, is_active: false } : filled;
  return { ok: true, value: { own: null, draft, given, isChanged: true, parent: parent ?? null, members, missing } };
}

function vetNew(
  context: CheckContext,
  index: number,
  { secrets_missing: names = [], ...row }: NamelessRow,
): Vetted<{ readonly given: Given; readonly draft: MonitorDraft; readonly masks: Masks }> {
  const problem = missingProblem(index, names);
  if (problem !== null) return { ok: false, problem };
  const { check_type: checkType = DEFAULT_TYPE } = row;
  const hidden = hideMasks(maskMissing(row, names, checkType), checkType);
  const vetted = vetCreation(context, hidden.given);
  if (!vetted.ok) return { ok: false, problem: problemOf(index, vetted.refusal) };
  return { ok: true, value: { given: row, draft: vetted.value, masks: hidden.masks } };
}

function checkOwn(context: CheckContext, index: number, own: StoredMonitor, named: GivenRow): Checked {
  const { parent, members, row: all } = splitNames(named);
  const { secrets_missing: names = [], name: _name, is_active: isActive, ...row } = all;
  const problem = missingProblem(index, names);
  if (problem !== null) return { ok: false, problem };
  const present = draftOf(own, openSecrets(context.encryption, own.secrets));
  const fitted = fitMasks(present, maskMissing(row, names, row.check_type ?? own.checkType));
  const isKept = isActive === undefined || (isActive && own.pausedReason === "plan");
  const given: Given = {
    ...fitted.given,
    ...(isKept ? {} : { is_active: isActive }),
    ...(fitted.missing.length > 0 ? { is_active: false } : {}),
  };
  const { base, given: applied } = leaveSecrets(present, given);
  const vetted = vetUpdate(context, base, applied);
  if (!vetted.ok) return { ok: false, problem: problemOf(index, vetted.refusal) };
  const draft = keepDefaultEmail(present, vetted.value, context.email);
  const { isChanged } = compareDrafts(present, draft);
  const missing = fitted.missing.map((field) => ({ field, reason: "unknown" as const }));
  return { ok: true, value: { own, draft, given, isChanged, parent, members, missing } };
}

/** A row without what it says of other rows. */
type NamelessRow = Given & Pick<GivenRow, "secrets_missing">;

/** Takes the names of other rows out of a row. */
function splitNames({ depends_on: parent, composite, ...row }: GivenRow): {
  readonly parent: string | null | undefined;
  readonly members: readonly string[] | undefined;
  readonly row: NamelessRow;
} {
  if (composite === undefined || composite === null)
    return { parent, members: undefined, row: { ...row, ...(composite === null ? { composite } : {}) } };
  const { monitors: members, ...rest } = composite;
  return { parent, members, row: { ...row, composite: rest } };
}

function missingProblem(index: number, names: readonly string[]): RowProblem | null {
  const at = findNoSecret(names);
  const message = "must be body, or request_headers. and the name of a field";
  return at < 0 ? null : problemAt(index, { field: `secrets_missing.${at}`, reason: "enum", message });
}
