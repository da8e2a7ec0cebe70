import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { inject } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";

/** A separate database of one test file, with every migration applied. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it, including open connections. */
  drop(): Promise<void>;
}

async function asSuperuser(server: string, statement: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(`${server}postgres`, { max: 1, onnotice: () => {} });
  try {
    await statement(sql);
  } finally {
    await sql.end();
  }
}

/** Clones the migrated template of this run's cluster. Call `drop` in afterAll. Rejects if no cluster can start. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const answer = await fetch(inject("databaseServer"));
  const server = await answer.text();
  if (!answer.ok) throw new Error(server);
  const name = `test_${randomBytes(6).toString("hex")}`;
  // Copying the files, of which no one is written, takes half the time of logging their pages (CREATE DATABASE, STRATEGY).
  await asSuperuser(server, (sql) => sql`create database ${sql(name)} template base strategy file_copy`);
  return {
    url: `${server}${name}`,
    drop: () => asSuperuser(server, (sql) => sql`drop database if exists ${sql(name)} with (force)`),
  };
}

/** A database of a test file with a client. */
export interface OpenDatabase {
  readonly url: string;
  readonly sql: Sql;
  /** Ends the client and drops the database. */
  close(): Promise<void>;
}

/** Creates a database and opens a client of it. */
export async function openDatabase(options: Partial<Parameters<typeof connect>[1]> = {}): Promise<OpenDatabase> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 30_000, ...options });
  return {
    url: database.url,
    sql,
    async close() {
      await sql.end();
      await database.drop();
    },
  };
}
