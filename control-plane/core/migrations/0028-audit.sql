-- Signed audit exports, and the log of changes that they contain.

-- The secrets that sign the exports of accounts. Old ones are kept, so that what they signed can still be verified.
create table audit_secrets (
  account_id bigint not null references accounts on delete cascade,
  -- First 8 hex digits of the SHA-256 of the secret.
  kid text not null,
  -- The secret, sealed.
  secret bytea not null,
  created_at timestamptz not null,
  -- When it was shown, which happens once; null: not yet, because the first export made it.
  shown_at timestamptz,
  -- When another one took its place; null: it signs now.
  retired_at timestamptz,
  primary key (account_id, kid)
);

create unique index audit_secrets_current on audit_secrets (account_id) where retired_at is null;

-- Who changed what of an account, when and from which address. Names of fields, never their values.
create table account_changes (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  changed_at timestamptz not null,
  actor_type text not null check (actor_type in ('key', 'operator')),
  -- Id of the key and what it was called then, as it can be deleted; null: the operator.
  actor_id bigint,
  actor_name text,
  -- Address of the client.
  address text not null,
  resource text not null,
  -- null: the account has one of this kind at most.
  resource_id bigint,
  action text not null,
  -- Names of the fields that the request contained.
  fields text[] not null
);

create index account_changes_account on account_changes (account_id, id desc);
-- Deletes what is older than the retention.
create index account_changes_time on account_changes (changed_at);
