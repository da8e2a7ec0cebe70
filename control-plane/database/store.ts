import type { Sql } from "#control-plane/database/connect.ts";

/** The database's own clock, in milliseconds since the epoch with a fraction; not the transaction's start. */
export async function readTime(sql: Sql): Promise<number> {
  const [row] = await sql<{ ms: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`;
  if (row === undefined) throw new Error("the database returned no time");
  return row.ms;
}
