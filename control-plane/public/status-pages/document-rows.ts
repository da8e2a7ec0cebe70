import { refuse, type Read } from "#shared/schema/problem.ts";
import { Type } from "typebox";
import { isDeepStrictEqual } from "node:util";
import { parseParams } from "#shared/schema/schema.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Change } from "#control-plane/http/access/changes.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { DocumentPart, IdOfName, RowChange, RowProblem } from "#control-plane/accounts/document-part.ts";
import type { RefusedField } from "#control-plane/http/errors.ts";
import { writableOf } from "#control-plane/http/resource.ts";
import type { Refused, WriteRefusal, Written } from "#control-plane/http/written.ts";
import { toDataUri } from "#control-plane/public/status-pages/logos/logo.ts";
import { listLogos, type StoredLogo } from "#control-plane/public/status-pages/logos/store.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";
import {
  type Given,
  MOST_GROUPS,
  MOST_MONITORS,
  MOST_NAME,
  statusPage,
} from "#control-plane/public/status-pages/settings/resource.ts";
import { readSettings } from "#control-plane/public/status-pages/settings/read-settings.ts";
import { showPage } from "#control-plane/public/status-pages/show-page.ts";
import { findBySlug, listPages } from "#control-plane/public/status-pages/store.ts";
import { changePage, createPage, MOST_PAGES } from "#control-plane/public/status-pages/writes.ts";

const LIST = "status_pages";

const { monitors: _monitors, groups: _groups, ...FIELDS } = statusPage.create.properties;

const MonitorName = Type.String({
  minLength: 1,
  maxLength: MOST_NAME,
  description: "Name of a monitor of the document",
});

const ROW = Type.Object({
  ...FIELDS,
  monitors: Type.Optional(
    Type.Array(
      Type.Object(
        {
          monitor: MonitorName,
          name: Type.Optional(
            Nullable(
              Type.String({
                minLength: 1,
                maxLength: MOST_NAME,
                description: "Name on the page; null: that of the monitor",
              }),
            ),
          ),
        },
        { additionalProperties: false },
      ),
      { maxItems: MOST_MONITORS, description: "Monitors of the page in their order" },
    ),
  ),
  groups: Type.Optional(
    Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: MOST_NAME, description: "Heading" }),
          monitors: Type.Array(MonitorName, {
            maxItems: MOST_MONITORS,
            description: "Monitors of the group in their order",
          }),
        },
        { additionalProperties: false },
      ),
      { maxItems: MOST_GROUPS, description: "Headings for some of the monitors" },
    ),
  ),
});

/** Creates the status pages of a document: a row is the page with its slug, or a new one. */
export function createPageRows(deps: Pick<App, "clock" | "random"> & { readonly ownHost: string }): DocumentPart {
  return {
    name: LIST,
    row: ROW,
    async export(sql, accountId, nameOf) {
      const pages = await listPages(sql, accountId, { limit: MOST_PAGES, offset: 0 });
      const logos = await listLogos(sql, accountId);
      return pages.toReversed().map((page) => rowOf(page, logos.get(page.id), nameOf));
    },
    check(rows, idOf) {
      const problems: RowProblem[] = [];
      const slugs = new Set<string>();
      let index = 0;
      for (const row of rows) {
        const read = readRow(row, idOf);
        const settings = read.ok ? readSettings(read.value, null, deps.ownHost) : read;
        if (!settings.ok) problems.push(problemAt(index, settings.problem));
        else if (slugs.has(settings.value.slug)) {
          const message = "another row of the document has this slug";
          problems.push(problemAt(index, { field: "slug", reason: "duplicate", message }));
        } else slugs.add(settings.value.slug);
        index += 1;
      }
      return problems;
    },
    async import(tx, accountId, rows, idOf) {
      const counts = { created: 0, updated: 0, unchanged: 0 };
      const [ids, problems, changes]: [number[], RowProblem[], RowChange[]] = [[], [], []];
      let index = 0;
      for (const row of rows) {
        const read = readRow(row, idOf);
        if (!read.ok) throw new Error(`a row was not checked: ${read.problem.message}`);
        // oxlint-disable-next-line no-await-in-loop -- one connection
        const { written, outcome } = await writeRow(deps, tx, accountId, read.value);
        if (written.ok) {
          ids.push(written.value.id);
          counts[outcome] += 1;
          if (written.value.change !== null) changes.push({ index, change: written.value.change });
        } else problems.push(refusalAt(index, written.refusal));
        index += 1;
      }
      return { counts: { ...counts, ids }, problems, changes, leftOut: [] };
    },
  };
}

/** Returns a page as a row: every field that can be written. */
function rowOf(page: StatusPage, logo: StoredLogo | undefined, nameOf: (id: number) => string | undefined): object {
  const { monitors: _shown, groups: _grouped, ...fields } = showPage(page, new Map(), "");
  const monitors = page.monitors.flatMap(({ id, name }) => {
    const monitor = nameOf(id);
    return monitor === undefined ? [] : [{ monitor, name }];
  });
  const groups = page.groups.map(({ name, monitorIds }) => ({
    name,
    monitors: monitorIds.flatMap((id) => nameOf(id) ?? []),
  }));
  const logoUri = logo === undefined ? null : toDataUri(logo.type, logo.content);
  return { ...writableOf(statusPage, fields), logo: logoUri, monitors, groups };
}

/** Reads a row; monitors get the ids of their names. */
function readRow(row: unknown, idOf: IdOfName): Read<Given> {
  if (!isRecord(row)) return refuse("", "type", "must be an object of at most 262144 characters");
  const parsed = parseParams(ROW, row, { from: "json", unknown: "refuse", readOnly: statusPage.readOnly });
  if (!parsed.ok) return parsed;
  const { monitors, groups, ...fields } = parsed.value;
  const ids = new Map<string, number>();
  for (const [index, { monitor }] of (monitors ?? []).entries()) {
    const id = idOf(monitor.trim());
    if (id === undefined) return refuse(`monitors.${index}.monitor`, "unknown", NO_MONITOR);
    ids.set(monitor.trim(), id);
  }
  for (const [index, group] of (groups ?? []).entries()) {
    const unknown = group.monitors.findIndex((name) => !ids.has(name.trim()));
    if (unknown >= 0) {
      return refuse(`groups.${index}.monitors.${unknown}`, "unknown", "is not in the monitors of the page");
    }
  }
  return {
    ok: true,
    value: {
      ...fields,
      ...(monitors === undefined
        ? {}
        : { monitors: monitors.map(({ monitor, name = null }) => ({ id: ids.get(monitor.trim()) ?? 0, name })) }),
      ...(groups === undefined
        ? {}
        : {
            groups: groups.map(({ name, monitors: all }) => ({
              name,
              monitor_ids: all.map((one) => ids.get(one.trim()) ?? 0),
            })),
          }),
    },
  };
}

const NO_MONITOR = "no monitor of the document has this name";

type Outcome = "created" | "updated" | "unchanged";

/** The page of a row; `change` is null if it was as the row has it. */
interface WrittenRow {
  readonly id: number;
  readonly change: Change | null;
}

/** Writes a row. A refusal does not end the transaction, so that the next rows can be tried too. */
async function writeRow(
  deps: Pick<App, "clock" | "random"> & { readonly ownHost: string },
  tx: Transaction,
  accountId: number,
  given: Given,
): Promise<{ readonly written: Written<WrittenRow>; readonly outcome: Outcome }> {
  const found = await findBySlug(tx, given.slug ?? "");
  const page = found?.accountId === accountId ? found : null;
  if (page !== null) {
    const read = readSettings(given, page, deps.ownHost);
    if (read.ok && isDeepStrictEqual({ ...page, ...read.value }, page)) {
      return { written: { ok: true, value: { id: page.id, change: null } }, outcome: "unchanged" };
    }
  }
  let refused: Refused | null = null;
  try {
    const written = await tx.savepoint(async (inner) => {
      const on = inner as Transaction;
      const one = await (page === null
        ? createPage(deps, on, accountId, given)
        : changePage(deps, on, { accountId, id: page.id }, given));
      if (one.ok) return one;
      refused = one;
      throw new Error("the page was refused");
    });
    return { written, outcome: page === null ? "created" : "updated" };
  } catch (error) {
    if (refused === null) throw error;
    return { written: refused, outcome: "unchanged" };
  }
}

/** Returns the problem of a row. The fields of a page that hold ids have names in a row. */
function problemAt(index: number, { field, reason, message }: RefusedField): RowProblem {
  const named = field
    .replace(/^(monitors\.\d+)\.id$/, "$1.monitor")
    .replace(/^(groups\.\d+)\.monitor_ids/, "$1.monitors");
  return { row: `${LIST}.${index}`, field: named === "" ? null : named, reason, message, code: "missing_parameter" };
}

function refusalAt(index: number, { code, field = "", reason = code, message: why }: WriteRefusal): RowProblem {
  if (code === "missing_parameter") return problemAt(index, { field, reason, message: why });
  const message = `an account has at most ${MOST_PAGES} status pages`;
  return { ...problemAt(index, { field: "", reason: "range", message }), code: "plan_limit_exceeded" };
}
