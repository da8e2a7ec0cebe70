-- What happened, who is informed of it, and how far each delivery has got.

-- One row an event. `body` holds the exact bytes that every receiver gets, on every attempt.
create table events (
  id text primary key,
  account_id bigint not null references accounts on delete cascade,
  type text not null,
  body text not null,
  -- Without foreign keys: an event outlives its monitor and its incident.
  monitor_id bigint,
  incident_id bigint,
  -- The monitor changed too often when this happened: its mails are sent at longer intervals.
  is_flapping boolean not null,
  created_at timestamptz not null
);

create index events_age on events (created_at);
create index events_account on events (account_id, created_at desc, id desc);

-- One row an event and receiver: the queue. What a replica has in memory can be lost; these rows are the truth.
create table deliveries (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  event_id text not null references events on delete cascade,
  channel text not null check (channel in ('mail', 'webhook')),
  -- mail: id of mail_recipients; webhook: id of the subscription. Without a foreign key: the record outlives them.
  receiver_id bigint not null,
  -- The address of a mail as it was then; null for webhooks.
  recipient text,
  -- pending: no attempt has finished. retrying: at least one has failed, the next is due at next_attempt_at.
  -- failed: ended early. dead: no attempts are left, or none was made in time.
  status text not null default 'pending' check (status in ('pending', 'retrying', 'delivered', 'failed', 'dead')),
  -- Number of attempts, those in progress and lost ones included. It rises with each claim, so it is also the token of
  -- the lease: a replica settles only the attempt that it has claimed.
  attempts integer not null default 0,
  -- A replica has claimed the row; due_at is the end of its lease.
  is_leased boolean not null default false,
  -- When the queue handles the row next: to release it, to attempt it, or because its lease ends. null: never, because
  -- the delivery has ended or travels with another one.
  due_at timestamptz,
  next_attempt_at timestamptz,
  -- When it was released for its first attempt. null: it waits for others to the same receiver.
  released_at timestamptz,
  -- Why it waited: the receiver got several a moment ago, or the monitor is flapping.
  held_by text check (held_by in ('window', 'flapping')),
  -- The delivery with which it travels as one message; null: it is the first or only one of its message.
  leader_id bigint references deliveries on delete cascade,
  created_at timestamptz not null,
  delivered_at timestamptz,
  -- Of the newest finished attempt: HTTP status or SMTP reply, and what failed.
  response_code integer,
  error_code text,
  error_message text,
  duration_ms integer
);

-- What the queue handles next, the oldest first.
create index deliveries_due on deliveries (channel, due_at) where due_at is not null;
-- What waits, or was sent recently, for one receiver.
create index deliveries_receiver on deliveries (channel, receiver_id, released_at);
create index deliveries_leader on deliveries (leader_id) where leader_id is not null;
create index deliveries_event on deliveries (event_id);
create index deliveries_unfinished on deliveries (channel, status, created_at) where status in ('pending', 'retrying');
create index deliveries_age on deliveries (created_at, id);

-- One row an attempt, written when it is claimed. ended_at is null for an attempt in progress.
create table delivery_attempts (
  delivery_id bigint not null references deliveries on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  response_code integer,
  error_code text,
  error_message text,
  -- JSON of the header fields of an answer, and the beginning of its body.
  response_headers text,
  response_body text,
  truncated boolean,
  primary key (delivery_id, attempt)
);

-- Addresses to which an account's notices are mailed, once their owner has confirmed them.
create table mail_recipients (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  email text not null,
  confirmed_at timestamptz,
  -- A confirmation mail is wanted. It is sent as soon as the limits allow it.
  wants_confirmation boolean not null default true,
  -- SHA-256 of the token in the newest confirmation link; null: none was sent yet.
  token_hash bytea unique check (octet_length(token_hash) = 32),
  -- The same token, sealed, for the mail that carries it; null once it was used.
  token_sealed bytea,
  token_expires_at timestamptz,
  created_at timestamptz not null
);

-- Mail servers in use do not distinguish upper and lower case.
create unique index mail_recipients_email on mail_recipients (account_id, lower(email));
create index mail_recipients_waiting on mail_recipients (id) where wants_confirmation;
create index mail_recipients_unconfirmed on mail_recipients (created_at) where confirmed_at is null;

-- One row a confirmation mail, for the limits.
create table mail_confirmations (
  recipient_id bigint not null references mail_recipients on delete cascade,
  account_id bigint not null,
  -- In lower case.
  email text not null,
  sent_at timestamptz not null
);

create index mail_confirmations_email on mail_confirmations (email, sent_at);
create index mail_confirmations_account on mail_confirmations (account_id, sent_at);
create index mail_confirmations_age on mail_confirmations (sent_at);
