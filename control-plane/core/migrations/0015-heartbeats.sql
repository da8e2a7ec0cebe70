-- Heartbeats: monitors that wait for pings. What is expected is in the settings of the monitor.

-- One row a monitor of check type heartbeat, written with every ping. Pings touch no index: sweep_at moves only when the
-- sweeper visits the row, or when the row needs an earlier visit.
create table heartbeats (
  monitor_id bigint primary key references monitors on delete cascade,
  -- SHA-256 of the token in the address of its pings, and the token itself, sealed.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  token_sealed bytea not null,
  -- Rises with every change of this row. A writer names the version it has read.
  version bigint not null default 0,
  -- Number of recorded pings.
  ping_count bigint not null default 0,
  -- The newest ping of any kind; null: none yet.
  last_ping_at timestamptz,
  last_kind text check (last_kind in ('success', 'start', 'fail', 'log', 'exit')),
  -- How long the newest run took that reported its start.
  last_duration_ms bigint,
  -- The newest ping that reported a success: the next one is expected from then on.
  succeeded_at timestamptz,
  -- JSON of the runs that have started and not ended, oldest first: [[id or null, Unix milliseconds], ...].
  open_runs text not null default '[]',
  -- When it is late; null: nothing is expected, because it is new, paused or resumed.
  deadline_at timestamptz,
  -- When the sweeper visits the row; null: it need not.
  sweep_at timestamptz
) with (fillfactor = 60);

create index heartbeats_sweep on heartbeats (sweep_at) where sweep_at is not null;

-- The 20 newest pings of each heartbeat: ping number n replaces number n - 20.
create table heartbeat_pings (
  monitor_id bigint not null references heartbeats on delete cascade,
  slot smallint not null,
  number bigint not null,
  received_at timestamptz not null,
  kind text not null,
  exit_code smallint,
  rid text,
  method text not null,
  remote_addr text not null,
  user_agent text,
  duration_ms bigint,
  body text,
  body_truncated boolean not null,
  primary key (monitor_id, slot)
) with (fillfactor = 60);

-- What pings to addresses that do not exist write, so that they take the same time as others: the same rows, without
-- any content.
create table heartbeat_decoys (
  id smallint primary key,
  version bigint not null default 0,
  ping_count bigint not null default 0,
  last_ping_at timestamptz,
  last_kind text,
  last_duration_ms bigint,
  succeeded_at timestamptz,
  open_runs text not null default '[]',
  deadline_at timestamptz,
  sweep_at timestamptz
) with (fillfactor = 60);

insert into heartbeat_decoys (id) select generate_series(0, 255);

create table heartbeat_decoy_pings (
  decoy_id smallint not null references heartbeat_decoys on delete cascade,
  slot smallint not null,
  number bigint not null,
  received_at timestamptz not null,
  kind text not null,
  exit_code smallint,
  rid text,
  method text not null,
  remote_addr text not null,
  user_agent text,
  duration_ms bigint,
  body text,
  body_truncated boolean not null,
  primary key (decoy_id, slot)
) with (fillfactor = 60);

-- One row: when a replica last showed that the service can receive pings.
create table service_liveness (
  id boolean primary key default true check (id),
  at timestamptz not null
);

-- Times in which no replica did. Deadlines that fall into one are moved: nobody could receive a ping.
create table service_outages (
  started_at timestamptz primary key,
  ended_at timestamptz not null check (ended_at > started_at)
);
