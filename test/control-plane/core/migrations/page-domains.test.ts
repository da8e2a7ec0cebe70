import { expect, it } from "vitest";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { openOldDatabase } from "#test/support/old-database.ts";

/** Runs `work` with a database that lacks a migration and those after it, and with a function that applies them. */
async function withDatabaseBefore(
  migration: string,
  work: (sql: Sql, upgrade: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const { sql, upgrade, drop } = await openOldDatabase(migration);
  try {
    await sql`
      insert into accounts (email, plan, created_at, updated_at) values ('owner@example.com', 'pro', now(), now())`;
    await work(sql, upgrade);
  } finally {
    await drop();
  }
}

it("domains of before they were verified count as verified, and each page has a token of its own", () =>
  withDatabaseBefore("page-domains", async (sql, upgrade) => {
    await sql`
      insert into status_pages (account_id, slug, title, is_public, domain, group_names, created_at, updated_at)
      select accounts.id, given.slug, 'Shop', true, given.domain, '{}', now(), now() from accounts, (
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
  }));

it("domains keep their states, tokens and looks, and several pages can claim one that one of them has verified", () =>
  withDatabaseBefore("domain-claims", async (sql, upgrade) => {
    await sql`
      insert into status_pages (account_id, slug, title, is_public, domain, domain_state, domain_claimed_at, domain_due_at,
        group_names, created_at, updated_at)
      select accounts.id, given.slug, 'Shop', true, given.domain, given.state, case when given.state is not null then now() end,
        case when given.state <> 'verified' then now() + interval '1 minute' end, '{}', now(), now()
      from accounts, (values
        ('a-failed', 'one.example.com', 'failed'), ('a-verified', 'one.example.com', 'verified'),
        ('b-pending', 'two.example.com', 'pending'), ('c-none', null, null)
      ) as given (slug, domain, state)`;
    await sql`insert into released_domains values ('three.example.com', 7, now())`;
    const kept = () => sql`
      select p.slug, p.domain, p.domain_state, p.domain_token, p.domain_claimed_at, p.domain_due_at, r.domain as released
      from status_pages as p, released_domains as r order by p.slug`;
    const before = [...(await kept())];
    expect(before).toHaveLength(4);
    await upgrade();
    expect([...(await kept())]).toEqual(before);
    const [verified] = await sql`
      select domain_missing_since as since, domain_recheck_at between now() - interval '1 hour' and now() + interval '1 day' as soon
      from status_pages where slug = 'a-verified'`;
    expect(verified).toEqual({ since: null, soon: true });

    const claim = (slug: string, state: string) => sql`
      update status_pages set domain = 'one.example.com', domain_state = ${state} where slug = ${slug}`;
    await claim("b-pending", "pending");
    await claim("c-none", "pending");
    await expect(claim("c-none", "verified")).rejects.toThrow("status_pages_domain");
  }));
