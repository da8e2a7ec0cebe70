import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, createTestDatabase } from "#test/support/postgres.ts";

let first: TestDatabase;
let second: TestDatabase;

beforeAll(async () => {
  first = await createTestDatabase();
  second = await createTestDatabase();
});
afterAll(async () => {
  await first.drop();
  await second.drop();
});

test("each database of a run has the migrations and no data of another one", async () => {
  const one = postgres(first.url, { max: 1 });
  const two = postgres(second.url, { max: 1 });
  await one`create table only_here (x int)`;
  const [there] = await two`select to_regclass('only_here') as name`;
  expect(there?.["name"]).toBeNull();
  const tables =
    await two`select count(*)::int as n from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')`;
  expect(tables[0]?.["n"]).toBeGreaterThan(0);
  await one.end();
  await two.end();
});
