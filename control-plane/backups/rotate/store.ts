import { quote } from "#control-plane/backups/tables-store.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { SEALED } from "#control-plane/core/secrets/sealed.ts";

/** Values that are in memory at a time. */
const AT_ONCE = 100;

/** A sealed value. */
interface SealedRow {
  /** Where its row is until the row is changed. */
  readonly place: string;
  readonly value: Uint8Array;
  /** Values of the columns to which the purpose is bound. */
  readonly bound: readonly string[];
}

/** Sealed again: the value takes the place of the one that was there. */
type NewValue = Pick<SealedRow, "place" | "value">;

/** Reads a fact. Until the transaction ends, nobody else can change it, or start with it. */
export async function lockFact(tx: Queryable, name: string): Promise<Uint8Array | null> {
  const [row] = await tx<{ value: Uint8Array }[]>`select value from instance where name = ${name} for update`;
  return row?.value ?? null;
}

/** Stores a fact in place of the one that was there; null: deletes it. */
export async function replaceFact(tx: Transaction, name: string, value: Uint8Array | null): Promise<void> {
  if (value === null) await tx`delete from instance where name = ${name}`;
  else {
    await tx`
      insert into instance (name, value) values (${name}, ${value})
      on conflict (name) do update set value = excluded.value`;
  }
}

/** Replaces the values of a column by those that `change` returns, a batch at a time. Nobody else may write. */
export async function changeValues(
  tx: Transaction,
  { table, column, bound, row }: (typeof SEALED)[number],
  change: (rows: readonly SealedRow[]) => readonly NewValue[],
): Promise<void> {
  // Bytes are \x and hex as text.
  const values = bound.map((name) => `${quote(name)}::text`).join(", ");
  const only = row === null ? "" : ` and name = '${row}'`;
  await tx.unsafe("set local bytea_output = 'hex'");
  await tx.unsafe(`declare sealed no scroll cursor for
    select ctid::text as place, ${quote(column)} as value, array[${values}]::text[] as bound
    from ${quote(table)} where ${quote(column)} is not null${only}`);
  for (;;) {
    const rows = await tx.unsafe<SealedRow[]>(`fetch ${AT_ONCE} from sealed`);
    if (rows.length === 0) break;
    const changed = change(rows.map((one) => ({ ...one, bound: one.bound.map((text) => text.replace(/^\\x/, "")) })));
    const { count } = await tx.unsafe(
      `update ${quote(table)} as t set ${quote(column)} = decode(given.value, 'hex')
       from unnest($1::text[], $2::text[]) as given (place, value) where t.ctid = given.place::tid`,
      [changed.map(({ place }) => place), changed.map(({ value }) => Buffer.from(value).toString("hex"))],
    );
    if (count !== changed.length) throw new Error(`the table ${table} was written to during the rotation`);
  }
  await tx.unsafe("close sealed");
}
