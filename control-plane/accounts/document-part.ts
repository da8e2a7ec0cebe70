import type { TSchema } from "typebox";
import type { Change } from "#control-plane/http/access/changes.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";

/** A problem with a row of a document. */
export interface RowProblem {
  /** List and index of the row, such as `monitors.3`. */
  readonly row: string;
  /** Id of the monitor, where the list is one of ids. */
  readonly id?: number;
  /** Dotted path in the row; null: the whole row. */
  readonly field: string | null;
  readonly reason: string;
  /** Explanation for people, without the name of the field. */
  readonly message: string;
  /** Code of the answer if this is the first problem. */
  readonly code: "missing_parameter" | "target_not_allowed" | "plan_limit_exceeded" | "probe_unavailable";
}

/** What an import does with the rows of one list. */
export interface RowCounts {
  readonly created: number;
  readonly updated: number;
  /** Rows that were already as the document has them. */
  readonly unchanged: number;
  /** Ids of what the rows are, in their order. */
  readonly ids: readonly number[];
}

/** A row of a list that an import creates or changes. */
export interface RowChange {
  readonly index: number;
  /** For the log of changes. */
  readonly change: Change;
}

/** The result of an import for the rows of one list. */
export interface WrittenPart {
  readonly counts: RowCounts;
  readonly problems: readonly RowProblem[];
  readonly changes: readonly RowChange[];
  /** Rows that an import leaves out, and why. */
  readonly leftOut: readonly { readonly field: string; readonly message: string }[];
}

/** Returns the id of the monitor that a row of the document names; undefined: none has the name. */
export type IdOfName = (name: string) => number | undefined;

/** A list of a document beside its monitors, which it names by their names in the document. */
export interface DocumentPart {
  readonly name: "status_pages" | "maintenance";
  /** Form of a row. */
  readonly row: TSchema;
  /** Returns the rows of an account, oldest first. A monitor without a name is left out. */
  export(
    sql: Queryable,
    accountId: number,
    nameOf: (monitorId: number) => string | undefined,
  ): Promise<readonly object[]>;
  /** Returns the problems of rows that are found without the account; `idOf` can return any number for a name. */
  check(rows: Iterable<unknown>, idOf: IdOfName): readonly RowProblem[];
  /** Writes rows that have no such problems. */
  import(tx: Transaction, accountId: number, rows: Iterable<unknown>, idOf: IdOfName): Promise<WrittenPart>;
}
