-- What strangers read of an outage. Pages that exist already get the careful defaults too.
alter table status_pages
  -- Whether visitors read the causes of outages and the locations that saw them.
  add column show_causes boolean not null default false,
  -- Whether outages are incidents of the page, and how long after their confirmation.
  add column auto_incidents boolean not null default true,
  add column auto_incidents_after_minutes integer not null default 2
    check (auto_incidents_after_minutes between 0 and 1440);

-- visitors: a mail to a subscriber waits until the outage is an incident of the page.
alter table deliveries drop constraint deliveries_held_by_check;
alter table deliveries
  add constraint deliveries_held_by_check check (held_by in ('window', 'flapping', 'evidence', 'visitors'));

-- Monitors without a name of their own were named by their whole address: the query can hold a secret.
update monitors set name = split_part(split_part(name, '#', 1), '?', 1)
where name ~ '[?#]' and name = left(regexp_replace(btrim(url), '^https?://', '', 'i'), 200)
  and split_part(split_part(name, '#', 1), '?', 1) <> '';
