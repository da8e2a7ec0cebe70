-- Outages of monitors, incidents that users open by hand, and what happened during both.

create table incidents (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  -- The monitor whose outage this is; null: opened by hand. No foreign key, and the monitor's facts are copied, because
  -- an incident outlives its monitor.
  monitor_id bigint,
  monitor_name text,
  monitor_url text,
  check_type text,
  -- The monitors and status pages that it concerns; also without foreign keys.
  monitor_ids bigint[] not null,
  page_ids bigint[] not null,
  title text not null,
  status text not null check (status in ('investigating', 'identified', 'monitoring', 'resolved')),
  impact text not null check (impact in ('none', 'minor', 'major', 'critical')),
  is_public boolean not null,
  started_at timestamptz not null,
  confirmed_at timestamptz not null check (confirmed_at >= started_at),
  recovered_at timestamptz,
  resolved_at timestamptz check (resolved_at >= confirmed_at),
  cause_code text,
  cause_message text,
  -- JSON array of AffectedLocation (incidents/incident.ts).
  locations text not null,
  -- The monitor whose outage holds the notices back; null: none did.
  suppressed_by bigint,
  acknowledged_at timestamptz,
  acknowledged_by text,
  -- Number of rows in incident_entries, so that their number has a limit.
  entry_count integer not null,
  check ((status = 'resolved') = (resolved_at is not null))
);

-- One open outage a monitor. Incidents opened by hand have no monitor_id and never conflict.
create unique index incidents_open_outage on incidents (monitor_id) where resolved_at is null;
create index incidents_account on incidents (account_id, id desc);
create index incidents_end on incidents (account_id, (coalesce(resolved_at, 'infinity')));
create index incidents_monitors on incidents using gin (monitor_ids);

-- What happened during an incident. Rows of kind update are the messages of its people to the users of a service.
create table incident_entries (
  id bigint generated always as identity primary key,
  incident_id bigint not null references incidents on delete cascade,
  occurred_at timestamptz not null,
  kind text not null,
  -- Who did it; null: the service.
  author text,
  text text not null,
  -- Of an update: the status from then on.
  status text,
  is_public boolean not null
);

create index incident_entries_incident on incident_entries (incident_id, id desc);
create index incident_entries_updates on incident_entries (incident_id, id desc) where kind = 'update';
