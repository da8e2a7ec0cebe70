-- Answers to writes that came with an X-Idempotency-Key, for those who send the same again.
create table idempotent_answers (
  -- SHA-256 of key id, method, path with sorted query, and the client's key.
  scope bytea primary key,
  account_id bigint not null references accounts on delete cascade,
  -- SHA-256 of method, path, query and body.
  fingerprint bytea not null,
  -- Status, request id and body, sealed.
  answer bytea not null,
  expires_at timestamptz not null
);

create index idempotent_answers_expiry on idempotent_answers (expires_at);
create index idempotent_answers_account on idempotent_answers (account_id);
