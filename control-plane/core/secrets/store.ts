import type { Sql } from "#control-plane/core/database/connect.ts";

/** Stores a fact about this installation unless one with this name exists. Returns the stored one. */
export async function keepFact(sql: Sql, name: string, value: Uint8Array): Promise<Uint8Array> {
  await sql`insert into instance (name, value) values (${name}, ${value}) on conflict (name) do nothing`;
  const [row] = await sql<{ value: Uint8Array }[]>`select value from instance where name = ${name}`;
  if (row === undefined) throw new Error(`the fact ${name} is missing after its insert`);
  return row.value;
}
