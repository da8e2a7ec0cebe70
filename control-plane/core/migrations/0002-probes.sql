-- Who may attach: the control plane's own authority, the tokens that let an agent in, the agents, and who sees them now.

-- Facts about this installation by name, such as the check value of the master key.
create table instance (
  name text primary key,
  value bytea not null
);

-- The one certificate authority, made by the first replica that starts; its key is sealed under the master key.
create table authority (
  id smallint primary key default 1 check (id = 1),
  certificate bytea not null,
  private_key bytea not null,
  created_at timestamptz not null
);

create table join_tokens (
  -- SHA-256 of the token's secret; the token itself is shown once and stored nowhere.
  digest bytea primary key check (octet_length(digest) = 32),
  region text not null,
  -- Set: agents that join by it serve this account only.
  account_id bigint references accounts on delete cascade,
  reusable boolean not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null
);

create table probes (
  id text primary key,
  region text not null,
  account_id bigint references accounts on delete cascade,
  enabled boolean not null default true,
  revoked_at timestamptz,
  -- Of the newest certificate: hex of the serial number, and its end.
  certificate_serial text not null,
  -- Of the certificate it was renewed with, which counts until its own end: the new one may not have arrived.
  previous_serial text,
  certificate_expires_at timestamptz not null,
  enrolled_at timestamptz not null,
  -- SHA-256 of the token and the key it was enrolled by: an agent whose answer got lost may ask again.
  enrolled_by bytea not null unique check (octet_length(enrolled_by) = 32),
  -- What it last said of itself (dispatch/hello.ts), for when it is away; null until it has first attached.
  hello jsonb,
  last_seen_at timestamptz
);

create index probes_account on probes (account_id) where account_id is not null;

-- Replicas of the control plane that are alive, by their own word; rows older than a few seconds are dead.
create table replicas (
  id text primary key,
  -- What agents dial to reach it; empty: not told.
  address text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

-- Which agent is attached to which replica. A row counts for as long as its replica's does.
create table attachments (
  probe_id text not null,
  replica_id text not null references replicas on delete cascade,
  draining boolean not null,
  attached_at timestamptz not null,
  primary key (probe_id, replica_id)
);
