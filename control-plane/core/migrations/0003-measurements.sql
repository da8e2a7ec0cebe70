-- Calls that are kept: run in the background, or answered at once and shared.

create table measurements (
  id text primary key,
  account_id bigint not null references accounts on delete cascade,
  tool text not null,
  -- JSON as text here and below, not jsonb: answers of targets may hold what jsonb refuses (NUL characters).
  params text not null,
  -- The location expression as its items, a JSON array; null: one probe of the system's choice.
  expression text,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  -- Whoever knows it may read the answer, without a key.
  share_id text unique,
  -- Rises each time a replica takes the measurement up; what an earlier run still writes does not count.
  run integer not null default 0,
  -- Number of the newest event.
  events integer not null default 0,
  -- Progress events that were not kept.
  dropped integer not null default 0,
  -- Since when a run has found no probe for what is left; null: the last one did not say so.
  waiting_since timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz not null
);

create index measurements_account on measurements (account_id, created_at desc, id desc);
create index measurements_expiry on measurements (expires_at);
create index measurements_unfinished on measurements (created_at) where finished_at is null;

-- One row a location, made with the measurement; its result is written once.
create table measurement_locations (
  measurement_id text not null references measurements on delete cascade,
  ordinal integer not null,
  -- Where: the probe chosen, then the one that answered.
  location text not null,
  -- null: no result yet.
  status text check (status in ('ok', 'failed')),
  -- The data of an ok row, the error of a failed one.
  result text,
  duration_ms integer,
  primary key (measurement_id, ordinal)
);

-- What happened while it ran, in order; a stream is resumed from here by any replica.
create table measurement_events (
  measurement_id text not null references measurements on delete cascade,
  number integer not null,
  event text not null,
  ordinal integer not null,
  data text not null,
  primary key (measurement_id, number)
);
