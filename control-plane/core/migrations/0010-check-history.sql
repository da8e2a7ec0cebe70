-- What checks leave behind, and the figures computed from it: once an hour, and once a day.

-- Ids are taken in steps by each connection: gaps are normal, and an id says nothing about the order.
create sequence check_ids cache 50;

-- One row a check, in one partition a UTC day, dropped as a whole when its retention ends. Columns are in the order of
-- their alignment, without padding.
create table checks (
  id bigint not null default nextval('check_ids'),
  -- No foreign key: a row is written only while its slot exists, and rows of deleted monitors are swept.
  monitor_id bigint not null,
  -- When the check began.
  checked_at timestamptz not null,
  -- null: no answer.
  response_ms integer,
  -- Beginning minus planned time.
  lag_ms integer not null,
  -- Planned checks before this one that were never run.
  missed integer not null,
  -- 1 up, 2 down, 3 unknown, 4 degraded.
  status smallint not null,
  http_status smallint,
  -- An extra check that confirms an outage or a recovery.
  is_recheck boolean not null,
  location text not null,
  -- JSON {stage, source, reason, message}; null: no fault.
  fault text
) partition by range (checked_at);

-- The hour comes first. The entries of one hour are in one small part of the index, so new entries of all monitors
-- change the same few thousand pages. With the monitor first, each monitor has its own page: one page image in the WAL
-- for each monitor after every checkpoint. The entries of a monitor in one hour are equal, and equal entries are stored
-- as one list.
create index checks_hour on checks (date_bin('1 hour', checked_at, timestamptz '2000-01-01 00:00:00+00'), monitor_id);

-- Takes the checks of a day whose partition is missing, so that none is lost.
create table checks_default partition of checks default;

-- When a monitor changed its status: 1 up, 2 down, 3 unknown. Before its first row it is unknown.
create table monitor_status_changes (
  id bigint generated always as identity,
  monitor_id bigint not null references monitors on delete cascade,
  at timestamptz not null,
  status smallint not null,
  primary key (monitor_id, at, id)
);

-- Checks of one monitor at one location in one hour, without re-checks.
create table check_hours (
  hour timestamptz not null,
  monitor_id bigint not null,
  up integer not null,
  down integer not null,
  unknown integer not null,
  location text not null,
  -- Histogram of the response times of successful checks (monitors/history/histogram.ts); null: there are none.
  response_ms bytea,
  -- The hour first: rows of one hour are added together, at the end of the index.
  primary key (hour, monitor_id, location)
);

-- The same for one UTC day.
create table check_days (
  monitor_id bigint not null,
  day timestamptz not null,
  up integer not null,
  down integer not null,
  unknown integer not null,
  location text not null,
  response_ms bytea,
  primary key (monitor_id, day, location)
);

-- How long a monitor was in each status on one UTC day of its life, in milliseconds. Maintenance is left out of the
-- other three.
create table monitor_days (
  monitor_id bigint not null,
  day timestamptz not null,
  up_ms integer not null,
  down_ms integer not null,
  unknown_ms integer not null,
  maintenance_ms integer not null,
  -- The uptime of 90 days is read from the index alone.
  primary key (monitor_id, day) include (up_ms, down_ms)
);

-- How far the two roll-ups are. The row is locked while a replica computes the next part.
create table history_progress (
  -- hours or days.
  name text primary key,
  -- Beginning of the first hour or day that is not complete in its table; null: none was ever computed.
  open_from timestamptz,
  -- Monitors with smaller ids are complete in that hour or day.
  next_monitor bigint not null
);

insert into history_progress (name, open_from, next_monitor) values ('hours', null, 0), ('days', null, 0);

-- Hours of monitors to compute again, because something was written into them too late to be counted.
create table late_hours (
  hour timestamptz not null,
  monitor_id bigint not null,
  primary key (hour, monitor_id)
);

-- Deleted monitors whose history is not yet deleted.
create table deleted_monitors (
  monitor_id bigint primary key,
  -- Beginning of the first UTC day that can still have history.
  next_day timestamptz not null
);

-- A trigger, because monitors are also deleted together with their account.
create function note_deleted_monitors() returns trigger language plpgsql as $$
begin
  insert into deleted_monitors (monitor_id, next_day)
  -- A day earlier, for a clock that was set back.
  select id, date_bin('1 day', created_at, timestamptz '2000-01-01 00:00:00+00') - interval '1 day' from gone;
  return null;
end
$$;

create trigger monitors_deleted after delete on monitors
  referencing old table as gone for each statement execute function note_deleted_monitors();
