-- Certificates and registrations that monitors depend on, each looked at once for all monitors of it.

-- One row a certificate or registration and circle of monitors.
create table expiry_targets (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('certificate', 'domain')),
  -- certificate: host:port, an IPv6 address in brackets; domain: the registered domain.
  target text not null,
  -- 0: any shared probe can look; else the account whose private probes must.
  scope bigint not null default 0,
  -- domain: its last label, to which the limits of a registry apply.
  registry text,
  -- When the row is visited next: to look, or because a threshold is reached. The earlier one.
  next_at timestamptz not null,
  -- When it can be looked at next.
  look_at timestamptz not null,
  lease bigint not null default 0,
  lease_ends_at timestamptz,
  -- Failed looks in a row, and why the last one failed.
  failures integer not null default 0,
  error text,
  -- The last successful look, and what it found: JSON (expiry/facts). null: none yet.
  looked_at timestamptz,
  facts text,
  -- Of a certificate, also in facts: what checks compare their own handshake with.
  fingerprint text,
  -- When another certificate was found than before.
  changed_at timestamptz,
  unique (kind, target, scope)
) with (fillfactor = 80);

create index expiry_targets_next on expiry_targets (next_at);

-- One row a monitor and kind: what it depends on, and of what it was informed.
create table expiry_links (
  monitor_id bigint not null references monitors on delete cascade,
  kind text not null,
  target_id bigint not null references expiry_targets,
  -- JSON of expiry/notices/memory.ts.
  memory text not null default '[]',
  primary key (monitor_id, kind)
);

create index expiry_links_target on expiry_links (target_id, monitor_id);

-- The version of the monitor from which its links were made: they follow every change, whoever makes it.
alter table monitors add column linked_version integer;
create index monitors_unlinked on monitors (id) where linked_version is distinct from version;
