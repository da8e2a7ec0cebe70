import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";

/**
 * Stores a fact about this installation unless one with this name exists. Returns the stored one. Rejects with code 55P03
 * while a transaction is about to change it.
 */
export async function keepFact(sql: Sql, name: string, value: Uint8Array): Promise<Uint8Array> {
  await sql`insert into instance (name, value) values (${name}, ${value}) on conflict (name) do nothing`;
  const [row] = await sql<{ value: Uint8Array }[]>`select value from instance where name = ${name} for share nowait`;
  if (row === undefined) throw new Error(`the fact ${name} is missing after its insert`);
  return row.value;
}

/** Finds the fact with this name. */
export async function findFact(sql: Queryable, name: string): Promise<Uint8Array | null> {
  const [row] = await sql<{ value: Uint8Array }[]>`select value from instance where name = ${name}`;
  return row?.value ?? null;
}

/** Reports whether there is a fact with this name. */
export async function hasFact(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`select exists (select from instance where name = ${name}) as has`;
  return row?.has === true;
}
