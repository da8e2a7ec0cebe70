-- Webhook subscriptions: where the events of an account are sent.
create table webhooks (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  name text not null,
  url text not null,
  -- null: every type that the plan allows.
  events text[],
  -- JSON: monitor_ids and tags; null: events about all monitors.
  filter text,
  is_active boolean not null,
  -- Why the service made it inactive; null if it is active, or a user did.
  inactive_reason text check (inactive_reason in ('plan_limit', 'failing')),
  -- How events are written (webhooks/formats).
  format text not null,
  -- Secret, the one before it, own header fields, options of the format: sealed JSON (webhooks/secrets.ts).
  secrets bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (not is_active or inactive_reason is null)
);

create index webhooks_account on webhooks (account_id, id);

-- The next attempt can be claimed. Rows that are due later become ready when their time has come, so that the rows of a
-- receiver that can be attempted are found without those that cannot.
alter table deliveries add column is_ready boolean not null default false;
create index deliveries_ready on deliveries (channel, receiver_id, due_at, id) where is_ready;
drop index deliveries_due;
-- What the queue handles next without an attempt: what becomes ready, is released, or was lost.
create index deliveries_due on deliveries (channel, due_at) where due_at is not null and not is_ready;

-- Receivers whose last attempt failed. Until one succeeds, each has one attempt at a time.
create table failing_receivers (
  channel text not null,
  receiver_id bigint not null,
  failing_since timestamptz not null,
  -- Failed attempts since then.
  failures integer not null,
  -- When the next attempt can begin; during an attempt the end of its lease.
  next_attempt_at timestamptz not null,
  primary key (channel, receiver_id)
);

-- The delivery of which this one is a repetition that a user asked for. Without a foreign key: it can be deleted earlier.
alter table deliveries add column replay_of bigint;
-- The delivery log of an account.
create index deliveries_log on deliveries (account_id, id desc) where channel = 'webhook';

-- A write with an effect outside the database has a row before it begins: without an answer, with what finds its result.
alter table idempotent_answers alter column answer drop not null;
alter table idempotent_answers add column reference bytea;
-- Until then the write can still be running.
alter table idempotent_answers add column running_until timestamptz;
alter table idempotent_answers add check ((answer is null) = (running_until is not null));
alter table idempotent_answers add check (answer is not null or reference is not null);
