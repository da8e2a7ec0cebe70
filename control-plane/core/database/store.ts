import type { Sql } from "#control-plane/core/database/connect.ts";

/** Reads the database's clock, in milliseconds since the epoch with a fraction. Not the start of the transaction. */
export async function readTime(sql: Sql): Promise<number> {
  const [row] = await sql<{ ms: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`;
  if (row === undefined) throw new Error("the database returned no time");
  return row.ms;
}

/** Sends a notification. */
export async function notify(sql: Sql, channel: string, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`;
}
