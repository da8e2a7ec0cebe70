-- Maintenance windows: what users wrote, and the times that follow from it.

create table maintenance (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  title text not null,
  -- Start of a window that is open once; the earliest start of a repeated one.
  starts_at timestamptz not null,
  duration_seconds integer not null,
  -- Recurrence rule (RFC 5545); null: once.
  rrule text,
  timezone text not null,
  is_public boolean not null,
  cancelled_at timestamptz,
  -- A deleted window keeps its past occurrences for uptime; nothing else shows it.
  deleted_at timestamptz,
  -- Occurrences that start before this time have rows.
  planned_until timestamptz not null,
  -- The first start from planned_until on. null: there is none.
  later_starts_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index maintenance_account on maintenance (account_id, id desc);
create index maintenance_later on maintenance (later_starts_at) where later_starts_at is not null;

-- What a window covers. A change of it makes a new row, so that the past keeps what it covered then.
create table maintenance_scopes (
  id bigint generated always as identity primary key,
  maintenance_id bigint not null references maintenance on delete cascade,
  monitor_ids bigint[] not null,
  tags text[] not null,
  -- When another row replaced it; null: the present one.
  replaced_at timestamptz
);

create index maintenance_scopes_window on maintenance_scopes (maintenance_id);
-- Finds the windows of monitors that are deleted.
create index maintenance_scopes_monitors on maintenance_scopes using gin (monitor_ids);
create unique index maintenance_scopes_present on maintenance_scopes (maintenance_id) where replaced_at is null;

-- The times that windows cover: past ones as they were, future ones for some weeks. A monitor is covered at a time t
-- if its account has a row with covers_from <= t < ends_at and a scope that names the monitor or one of its tags.
create table maintenance_occurrences (
  maintenance_id bigint not null references maintenance on delete cascade,
  scope_id bigint not null references maintenance_scopes on delete cascade,
  account_id bigint not null,
  -- Start by the window's settings.
  starts_at timestamptz not null,
  -- Start of the time that it covers: later than starts_at if the window was written or changed after its start.
  covers_from timestamptz not null,
  -- At most 30 days after starts_at; earlier than by the settings if it was ended early.
  ends_at timestamptz not null check (ends_at > covers_from),
  primary key (maintenance_id, covers_from)
);

create index maintenance_occurrences_account on maintenance_occurrences (account_id, covers_from);
create index maintenance_occurrences_scope on maintenance_occurrences (scope_id);
create index maintenance_occurrences_end on maintenance_occurrences (ends_at);
