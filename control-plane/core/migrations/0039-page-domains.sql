-- Pages' own domains are verified by a TXT record before they serve. Replicas of the release before write pages without
-- these columns while a new one is rolled out.

alter table status_pages
  -- Value of the record; random, so that nobody else can know it before it is published.
  add column domain_token text not null
    default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  add column domain_state text check (domain_state in ('pending', 'verified', 'failed')),
  -- When the page got its domain.
  add column domain_claimed_at timestamptz,
  -- When the record is asked for next. While a replica asks: when others may. null: never, as for verified domains.
  add column domain_due_at timestamptz;

-- Domains of before count as verified.
update status_pages set domain_state = 'verified', domain_claimed_at = updated_at where domain is not null;

-- A claim that failed keeps nobody else from the name.
drop index status_pages_domain;
create unique index status_pages_domain on status_pages (domain) where domain_state in ('pending', 'verified');
create index status_pages_domain_due on status_pages (domain_due_at) where domain_due_at is not null;

-- Verified domains that a page has given up. Only its account can take such a name at once: DNS often leads to this
-- service for days after that. Without a foreign key: a row outlives its account.
create table released_domains (
  domain text primary key,
  account_id bigint not null,
  released_at timestamptz not null
);

create index released_domains_age on released_domains (released_at);
