-- Status pages, and the monitors that they show.

create table status_pages (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  -- Part of the page's address.
  slug text not null,
  title text not null,
  description text,
  footer text,
  is_public boolean not null,
  -- Host name in lower case under which the page is served too.
  domain text,
  -- Names of the groups, in order.
  group_names text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create unique index status_pages_slug on status_pages (slug);
create unique index status_pages_domain on status_pages (domain) where domain is not null;
create index status_pages_account on status_pages (account_id, id desc);

create table status_page_monitors (
  page_id bigint not null references status_pages on delete cascade,
  monitor_id bigint not null references monitors on delete cascade,
  -- Place in the page's list of monitors.
  position integer not null,
  -- Name on the page; null: that of the monitor.
  name text,
  -- Index of its group in group_names, and its place in the group; null: it is in no group.
  group_index integer,
  group_position integer,
  primary key (page_id, monitor_id),
  check ((group_index is null) = (group_position is null))
);

create index status_page_monitors_monitor on status_page_monitors (monitor_id);
