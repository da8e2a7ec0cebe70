import { expect, it } from "vitest";
import { openOldDatabase } from "#test/support/old-database.ts";

it("domains of before they were verified count as verified, and each page has a token of its own", async () => {
  const { sql, upgrade, drop } = await openOldDatabase("page-domains");
  try {
    await sql`
      with account as (
        insert into accounts (email, plan, created_at, updated_at) values ('owner@example.com', 'pro', now(), now()) returning id
      )
      insert into status_pages (account_id, slug, title, is_public, domain, group_names, created_at, updated_at)
      select account.id, given.slug, 'Shop', true, given.domain, '{}', now(), now() from account, (
        values ('with-domain', 'status.example.com'), ('without-domain', null)
      ) as given (slug, domain)`;
    await upgrade();
    const rows = await sql<{ slug: string; domain_state: string; domain_token: string; is_asked: boolean }[]>`
      select slug, domain_state, domain_token, domain_due_at is not null as is_asked from status_pages order by slug`;
    expect(rows.map(({ slug, domain_state, is_asked }) => [slug, domain_state, is_asked])).toEqual([
      ["with-domain", "verified", false],
      ["without-domain", null, false],
    ]);
    expect(new Set(rows.map(({ domain_token }) => domain_token)).size).toBe(2);
  } finally {
    await drop();
  }
});
