import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { connect } from "#control-plane/database/connect.ts";
import { migrate } from "#control-plane/migrations/migrate.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

const ALL = new URL("../../../control-plane/migrations/", import.meta.url);

it("domains of before they were verified count as verified, and each page has a token of its own", async () => {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 60_000 });
  const folder = mkdtempSync(join(tmpdir(), "migrations-"));
  try {
    const names = readdirSync(ALL)
      .filter((name) => name.endsWith(".sql"))
      .toSorted();
    const before = names.slice(
      0,
      names.findIndex((name) => name.endsWith("-page-domains.sql")),
    );
    for (const name of before) copyFileSync(fileURLToPath(new URL(name, ALL)), join(folder, name));
    await sql.unsafe("drop schema public cascade; create schema public");
    await migrate(database.url, pathToFileURL(`${folder}/`));
    await sql`
      with account as (
        insert into accounts (email, plan, created_at, updated_at) values ('owner@example.com', 'pro', now(), now()) returning id
      )
      insert into status_pages (account_id, slug, title, is_public, domain, group_names, created_at, updated_at)
      select account.id, given.slug, 'Shop', true, given.domain, '{}', now(), now() from account, (
        values ('with-domain', 'status.example.com'), ('without-domain', null)
      ) as given (slug, domain)`;
    await migrate(database.url);
    const rows = await sql<{ slug: string; domain_state: string; domain_token: string; is_asked: boolean }[]>`
      select slug, domain_state, domain_token, domain_due_at is not null as is_asked from status_pages order by slug`;
    expect(rows.map(({ slug, domain_state, is_asked }) => [slug, domain_state, is_asked])).toEqual([
      ["with-domain", "verified", false],
      ["without-domain", null, false],
    ]);
    expect(new Set(rows.map(({ domain_token }) => domain_token)).size).toBe(2);
  } finally {
    rmSync(folder, { recursive: true });
    await sql.end();
    await database.drop();
  }
});
