-- Many targets checked by one tool in the background.

create table batches (
  id text primary key,
  account_id bigint not null references accounts on delete cascade,
  tool text not null,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  -- What was submitted and could not be accepted: a JSON array of {url, reason}.
  invalid text not null,
  -- Rises each time a replica takes the batch up; what an earlier run still writes does not count.
  run integer not null default 0,
  -- Since when a run has found no probe for what is left; null: the last one did not say so.
  waiting_since timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz not null
);

create index batches_account on batches (account_id, created_at desc, id desc);
create index batches_expiry on batches (expires_at);
create index batches_unfinished on batches (created_at) where finished_at is null;

-- One row a target as it was submitted; the same target again points to the first, which alone has the result.
create table batch_targets (
  batch_id text not null references batches on delete cascade,
  ordinal integer not null,
  -- As submitted.
  url text not null,
  original integer not null,
  -- null: no result yet. JSON as text, because answers of targets may hold what jsonb refuses.
  status text check (status in ('ok', 'failed')),
  result text,
  duration_ms integer,
  primary key (batch_id, ordinal)
);
