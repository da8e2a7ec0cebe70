import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { openBrowser, PASSWORD, signIn, signInOwner } from "#test/support/dashboard.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

const ALL = new URL("../../../../control-plane/core/migrations/", import.meta.url);

it("invites and keys of before have the makers in the log of changes, nobody is locked out, and keys go on working", async () => {
  const source = await startControlPlane();
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 60_000 });
  const folder = mkdtempSync(join(tmpdir(), "migrations-"));
  try {
    // A hash of the password, and a key with its digest, as the service makes them.
    await signInOwner(source, "someone@example.com");
    const [user] = await source.app.sql<{ hash: string }[]>`select password_hash as hash from users`;
    const key = await source.createKey();
    const [stored] = await source.app.sql<{ digest: Uint8Array; prefix: string }[]>`
      select digest, prefix from keys order by id desc limit 1`;
    const names = readdirSync(ALL)
      .filter((name) => name.endsWith(".sql"))
      .toSorted();
    const before = names.slice(
      0,
      names.findIndex((name) => name.endsWith("-makers-of-invites.sql")),
    );
    for (const name of before) copyFileSync(fileURLToPath(new URL(name, ALL)), join(folder, name));
    await sql.unsafe("drop schema public cascade; create schema public");
    await migrate(database.url, pathToFileURL(`${folder}/`));
    const [account] = await sql<{ id: number }[]>`
      insert into accounts (email, plan, key_count, created_at, updated_at)
      values ('owner@example.com', 'pro', 2, now(), now()) returning id`;
    const accountId = account?.id ?? 0;
    const rows = await sql<{ id: number }[]>`
      insert into users (email, password_hash, created_at, updated_at)
      select email, ${user?.hash ?? ""}, now(), now()
      from unnest(array['owner@example.com', 'editor@example.com']) as email
      returning id`;
    const [owner = 0, editor = 0] = rows.map(({ id }) => id);
    await sql`
      insert into members (account_id, user_id, role, created_at)
      values (${accountId}, ${owner}, 'owner', now()), (${accountId}, ${editor}, 'editor', now())`;
    const log = (actor: string, id: number | null, resource: string, resourceId: number) => sql`
      insert into account_changes (account_id, changed_at, actor_type, actor_id, address, resource, resource_id, action)
      values (${accountId}, now(), ${actor}, ${id}, '192.0.2.1', ${resource}, ${resourceId}, 'created')`;
    const invite = async (letter: string) => {
      const [row] = await sql<{ id: number }[]>`
        insert into one_time_links (digest, purpose, account_id, role, created_at, expires_at)
        values (sha256(${letter.repeat(32)}::bytea), 'invite', ${accountId}, 'owner', now(), now() + interval '7 days')
        returning id`;
      return row?.id ?? 0;
    };
    await log("member", owner, "invite", await invite("a"));
    await log("member", editor, "invite", await invite("b"));
    await log("operator", null, "invite", await invite("c"));
    await invite("d");
    const keys = await sql<{ id: number }[]>`
      insert into keys (account_id, name, digest, prefix, created_at)
      values (${accountId}, 'used', ${stored?.digest ?? null}, ${stored?.prefix ?? ""}, now()),
        (${accountId}, 'operator', sha256('other'), 'vtg_other', now())
      returning id`;
    const [made = 0, other = 0] = keys.map(({ id }) => id);
    await log("member", editor, "key", made);
    await log("operator", null, "key", other);
    await migrate(database.url);
    const plane = await startControlPlane({ databaseUrl: database.url });
    try {
      const use = async (letter: string) => {
        const email = `${letter}@example.com`;
        const { status, html } = await openBrowser(plane).post(`/invite/${letter.repeat(32)}`, {
          email,
          password: PASSWORD,
        });
        return [status, /no owner|Nobody knows/.exec(html)?.[0] ?? null];
      };
      expect(await Promise.all(["a", "b", "c", "d"].map(use))).toEqual([
        [303, null],
        [404, "no owner"],
        [303, null],
        [404, "Nobody knows"],
      ]);
      expect((await plane.call("/api/v4/account", { key })).status).toBe(200);
      const browser = await signIn(plane, "owner@example.com");
      await signIn(plane, "editor@example.com");
      const form = await browser.get(`/app/members/${editor}/remove`);
      expect([form.html.includes("used (vtg_"), form.html.includes("operator (vtg_")]).toEqual([true, false]);
    } finally {
      await plane.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
    await source.stop();
    await sql.end();
    await database.drop();
  }
});
