-- What accounts watch: the record that users write, what is known about it, and when it is checked next.

create table monitors (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  name text not null,
  -- The target: a URL, a host or a domain name, as submitted.
  url text not null,
  check_type text not null,
  interval_minutes integer not null,
  is_active boolean not null,
  -- Why the service paused it: 'plan' after a downgrade; null if the user did, or if it is active.
  paused_reason text,
  tags text[] not null,
  depends_on bigint references monitors on delete set null,
  -- JSON of the remaining options (monitors/monitor.ts), without secrets.
  settings text not null,
  -- Sealed JSON of what can hold secrets: request headers and body. null: neither is set.
  secrets bytea,
  -- Rises with every change of this row, so that replicas can keep what they read.
  version integer not null default 1,
  -- When a user last asked for a check.
  run_requested_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index monitors_account on monitors (account_id, id desc);
create index monitors_depends_on on monitors (depends_on) where depends_on is not null;

-- One row a monitor, written with every observation: a short row without indexed columns, on pages with room for its
-- next version, so that an update touches no index.
create table monitor_states (
  monitor_id bigint primary key references monitors on delete cascade,
  -- Rises with every recorded observation. A writer names the version it has read.
  state_version bigint not null default 0,
  status text not null default 'unknown' check (status in ('up', 'down', 'unknown')),
  -- JSON of monitors/state/state.ts.
  state text not null,
  -- When the newest check began whose slot exists no more, for example because the monitor is paused; null: none did.
  last_checked_at timestamptz
) with (fillfactor = 60);

-- One row a monitor and location: the schedule. A check is planned, claimed under a lease, and recorded once.
create table monitor_slots (
  monitor_id bigint not null references monitors on delete cascade,
  -- One item of a location expression.
  location text not null,
  account_id bigint not null,
  interval_seconds integer not null,
  -- Position of the planned times within the interval.
  phase_ms integer not null,
  -- The longest a check takes.
  timeout_seconds integer not null,
  -- The planned time of the next check, or of the running one.
  planned_at timestamptz not null,
  -- When an extra check is wanted: to confirm a failure or a recovery, or because a user asked. null: none.
  extra_at timestamptz,
  -- Whether a user asked for it: then it counts like a planned check.
  is_requested boolean not null default false,
  -- When a replica may claim it: the earlier of planned_at and extra_at. A claim leaves it as it is, so that the claim
  -- touches no index.
  due_at timestamptz not null,
  -- When its newest check began, and how many milliseconds that was later than planned. null: no check yet.
  checked_at timestamptz,
  lag_ms integer,
  -- Number of the claim that may record a check; 0: none.
  lease bigint not null default 0,
  -- From then on another claim may take the slot; null: no claim yet.
  lease_ends_at timestamptz,
  primary key (monitor_id, location)
) with (fillfactor = 70);

create index monitor_slots_due on monitor_slots (due_at);
