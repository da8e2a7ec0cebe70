import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { transactAndFinish } from "#control-plane/core/database/transaction.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

describe("a transaction whose last statements travel with its COMMIT", () => {
  let database: TestDatabase;
  let sql: Sql;
  beforeAll(async () => {
    database = await createTestDatabase();
    sql = connect(database.url, { connections: 2, name: "test", statementTimeoutMs: 5_000 });
    await sql`create table notes (text text primary key)`;
  });
  afterAll(async () => {
    await sql?.end();
    await database?.drop();
  });

  const notes = async () =>
    (await sql<{ text: string }[]>`select text from notes order by text`).map(({ text }) => text);

  it("commits them together with the others", async () => {
    const value = await transactAndFinish(
      sql,
      async (tx) => {
        await tx`insert into notes values ('a')`;
        return "b";
      },
      (tx, text) => tx`insert into notes values (${text})`,
    );
    expect(value).toBe("b");
    expect(await notes()).toEqual(["a", "b"]);
  });

  it("rejects, and commits nothing, if one of them fails", async () => {
    const failing = transactAndFinish(
      sql,
      (tx) => tx`insert into notes values ('c')`,
      (tx) => Promise.all([tx`insert into notes values ('d')`, tx`insert into notes values ('a')`]),
    );
    await expect(failing).rejects.toThrow("duplicate key");
    expect(await notes()).toEqual(["a", "b"]);
  });

  it("sends none of them if its work fails", async () => {
    const failing = transactAndFinish(
      sql,
      () => Promise.reject(new Error("no")),
      (tx) => tx`insert into notes values ('e')`,
    );
    await expect(failing).rejects.toThrow("no");
    expect(await notes()).toEqual(["a", "b"]);
  });

  it("refuses a statement that is sent later, which would run outside of it", async () => {
    const late = transactAndFinish(
      sql,
      (tx) => tx`select 1`,
      async (tx) => {
        await turn();
        await tx`insert into notes values ('f')`;
      },
    );
    await expect(late).rejects.toThrow("has ended");
    expect(await notes()).toEqual(["a", "b"]);
  });
});
