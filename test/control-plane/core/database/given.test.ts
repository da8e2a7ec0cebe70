import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

const TYPES = {
  text: "text",
  smallCount: "smallint",
  wholeCount: "integer",
  largeCount: "bigint",
  share: "float8",
  isOpen: "boolean",
  digest: "bytea",
  seenAt: "timestamptz",
  tags: "json",
} as const;

interface Row {
  readonly text: string | null;
  readonly smallCount: number | null;
  readonly wholeCount: number | null;
  readonly largeCount: number | null;
  readonly share: number | null;
  readonly isOpen: boolean | null;
  readonly digest: Buffer | null;
  readonly seenAt: Date | null;
  readonly tags: unknown;
}

const FULL: Row = {
  text: 'a "quoted" \\ text, with {braces}, null and\nlines: 🦊',
  smallCount: -32_768,
  wholeCount: 2_147_483_647,
  largeCount: Number.MAX_SAFE_INTEGER,
  share: 0.1,
  isOpen: true,
  digest: Buffer.from([0, 34, 92, 255]),
  seenAt: new Date("2026-03-29T01:59:59.123Z"),
  tags: [["a", 'b"\\'], { c: null }],
};
const EMPTY: Row = { ...FULL, text: "", smallCount: 0, share: -1e-9, isOpen: false, digest: Buffer.alloc(0), tags: [] };
const NULLS: Row = {
  text: null,
  smallCount: null,
  wholeCount: null,
  largeCount: null,
  share: null,
  isOpen: null,
  digest: null,
  seenAt: null,
  tags: null,
};

describe("rows that are given to a statement", () => {
  let database: TestDatabase;
  let sql: Sql;
  beforeAll(async () => {
    database = await createTestDatabase();
    sql = connect(database.url, { connections: 1, name: "test", statementTimeoutMs: 5_000 });
  });
  afterAll(async () => {
    await sql?.end();
    await database?.drop();
  });

  const read = async (rows: readonly Row[]): Promise<unknown[]> => {
    const found = await sql<Row[]>`
      select text, small_count as "smallCount", whole_count as "wholeCount", large_count as "largeCount", share,
        is_open as "isOpen", digest, seen_at as "seenAt", tags
      from ${given(sql, rows, TYPES, { ordinality: "place" })} order by place`;
    return [...found];
  };

  it.each([
    ["every type", [FULL]],
    ["values that are empty", [EMPTY]],
    ["nulls, before and after values", [NULLS, FULL, NULLS, EMPTY]],
    ["no rows", []],
  ])("come back as they were: %s", async (_title, rows) => {
    expect(await read(rows)).toEqual(rows);
  });

  it("are one prepared statement, however many they are and whichever values are null", async () => {
    for (const rows of [[], [NULLS], [FULL], [EMPTY, NULLS, FULL]]) await read(rows);
    const [count] = await sql<{ prepared: number }[]>`
      select count(*)::integer as prepared from pg_prepared_statements where statement like '%small_count%'
        and statement not like '%pg_prepared_statements%'`;
    expect(count?.prepared).toBe(1);
  });

  it("are text that no setting of the server's time zone changes", async () => {
    await sql`set time zone 'Asia/Kolkata'`;
    const times = [new Date("2026-01-01T00:00:00.001Z"), new Date("1969-12-31T23:59:59.999Z")];
    const rows = await sql`select ms, at from ${given(
      sql,
      times.map((at) => ({ ms: at.getTime(), at: at.getTime() })),
      { ms: "bigint", at: "timestamptz" },
    )}`;
    expect([...rows]).toEqual(times.map((at) => ({ ms: at.getTime(), at })));
  });

  it("have the name and the columns that the statement asks for, and nothing else of the rows", async () => {
    const rows = [
      { id: 7, name: "a", unused: [1] },
      { id: 8, name: "b", unused: [2] },
    ];
    const found = await sql`
      select one.*, other.name as other from ${given(sql, rows, { name: "text" }, { as: "one", ordinality: "n" })}
      join ${given(sql, rows, { id: "bigint", name: "text" }, { as: "other" })} on other.id = one.n + 6`;
    expect([...found]).toEqual([
      { name: "a", n: 1, other: "a" },
      { name: "b", n: 2, other: "b" },
    ]);
  });

  it("cannot lack a value", () => {
    const row = {} as { readonly isOpen: boolean };
    expect(() => given(sql, [row], { isOpen: "boolean" })).toThrow("isOpen is missing in a row for the database");
  });
});
