-- Who may call, with which keys, and how much of the plan is used.

create table accounts (
  id bigint generated always as identity primary key,
  email text,
  plan text not null check (plan in ('free', 'starter', 'pro', 'business', 'captain')),
  -- Kept by the statements that make and delete keys, so that the plan's allowance holds under concurrency.
  key_count integer not null default 0 check (key_count >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create unique index accounts_email on accounts (lower(email));

create table keys (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  name text,
  -- SHA-256 of the key; the key itself is shown once and stored nowhere.
  digest bytea not null unique check (octet_length(digest) = 32),
  prefix text not null,
  -- null: whatever the account's plan allows, also after a change of plan.
  scopes text[],
  created_at timestamptz not null
);

create index keys_account on keys (account_id, id);

-- One row an account: the newest minute and day, their counts, and what the last statement asked and was granted.
-- No foreign key: a request of an account erased a moment ago must not fail the batch it travels in.
create table request_counts (
  account_id bigint primary key,
  minute integer not null,
  minute_count integer not null,
  minute_limit integer not null,
  day integer not null,
  day_count integer not null,
  day_limit integer not null,
  granted integer not null
) with (fillfactor = 50);
