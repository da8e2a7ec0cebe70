import { expect, it } from "vitest";
import { openOldDatabase } from "#test/support/old-database.ts";

const EMAILS = ["Ops.Team@example.com", "M\u00DCller@Example.com", "\u0130nfo@example.com", "a@b\u00FCcher.example"];
const KEYS = ["ops.team@example.com", "m\u00DCller@example.com", "\u0130nfo@example.com", "a@b\u00FCcher.example"];

it("addresses of before keep their spelling and are found by ASCII lower case, also where they have no normal form", async () => {
  const { sql, upgrade, drop } = await openOldDatabase("mail-addresses");
  try {
    await sql`
      insert into users (email, password_hash, created_at, updated_at)
      select email, 'none', now(), now() from unnest(${EMAILS}::text[]) as email`;
    await sql`
      insert into accounts (email, plan, created_at, updated_at)
      select email, 'free', now(), now() from unnest(${[...EMAILS, null]}::text[]) as email`;
    await sql`
      insert into one_time_links (digest, purpose, email, created_at, expires_at)
      select sha256(email::bytea), 'invite', email, now(), now() from unnest(${EMAILS}::text[]) as email`;
    const [{ id: accountId } = { id: 0 }] = await sql<{ id: number }[]>`select min(id) as id from accounts`;
    await sql`
      insert into mail_recipients (account_id, email, created_at)
      select ${accountId}, email, now() from unnest(${EMAILS}::text[]) as email`;
    const [{ id: pageId } = { id: 0 }] = await sql<{ id: number }[]>`
      insert into status_pages (account_id, slug, title, is_public, group_names, created_at, updated_at)
      values (${accountId}, 'shop', 'Shop', true, '{}', now(), now()) returning id`;
    await sql`
      insert into status_page_subscribers (page_id, email, asked_at)
      select ${pageId}, email, now() from unnest(${EMAILS}::text[]) as email`;
    await upgrade();
    for (const table of ["users", "accounts", "one_time_links", "mail_recipients", "status_page_subscribers"]) {
      const rows = await sql<{ email: string; key: string }[]>`
        select email, mail_address as key from ${sql(table)} where email is not null order by id`;
      expect([table, rows.map(({ email }) => email), rows.map(({ key }) => key)]).toEqual([table, EMAILS, KEYS]);
    }
    // A replica of the release before still inserts by its own index.
    const again = await sql`
      insert into users (email, password_hash, created_at, updated_at) values ('OPS.TEAM@example.com', 'none', now(), now())
      on conflict (lower(email)) do nothing`;
    expect(again.count).toBe(0);
    await expect(
      sql`insert into accounts (email, plan, created_at, updated_at) values ('OPS.team@example.com', 'free', now(), now())`,
    ).rejects.toThrow("accounts_");
  } finally {
    await drop();
  }
});
