-- A domain is exclusive once it is verified: any number of pages can claim it until then, each with its own record. The
-- record of a verified one is asked for daily, and a claim whose record stands takes over when the other has been missing
-- for 7 days.

alter table status_pages
  -- When the record of a verified domain is asked for next. Apart from domain_due_at, which replicas of the release before
  -- read: they would take the domain from a page whose record is missing.
  add column domain_recheck_at timestamptz not null default now(),
  -- When the record of a verified domain was first missed; null: it stood at the last look, or there was none.
  add column domain_missing_since timestamptz;

-- Not all of them at once.
update status_pages set domain_recheck_at = now() + random() * interval '1 day' where domain_state = 'verified';

drop index status_pages_domain;
create unique index status_pages_domain on status_pages (domain) where domain_state = 'verified';
create index status_pages_domain_recheck on status_pages (domain_recheck_at) where domain_state = 'verified';
