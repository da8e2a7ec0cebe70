-- What the service gathers about an outage when it is confirmed, and the good checks with which it is compared.

-- One row an incident of a monitor, inserted with it. The row is also the order to gather.
create table incident_evidence (
  incident_id bigint primary key references incidents on delete cascade,
  account_id bigint not null references accounts on delete cascade,
  -- Without a foreign key, as in incidents.
  monitor_id bigint not null,
  -- Host of the target; empty for a heartbeat.
  host text not null,
  cause_code text not null,
  -- Equal for outages that have the same cause, as far as that can be seen (evidence/cause-key.ts).
  cause_key text not null,
  confirmed_at timestamptz not null,
  -- shared: the evidence of the incident shared_with is also that of this one.
  status text not null default 'pending' check (status in ('pending', 'gathering', 'gathered', 'shared', 'failed')),
  -- When the row is handled next; of one that is gathered: the end of the lease. null: never.
  due_at timestamptz,
  -- Number of claims: it rises with each, so it is also the token of the lease.
  attempts integer not null default 0,
  shared_with bigint,
  gathered_at timestamptz,
  -- JSON array: the lines of a mail.
  lines text,
  -- JSON (evidence/evidence.ts).
  body text check (octet_length(body) <= 262144),
  check ((status in ('pending', 'gathering')) = (due_at is not null)),
  check ((status = 'shared') = (shared_with is not null))
);

create index incident_evidence_due on incident_evidence (due_at) where due_at is not null;
-- What was gathered lately, for an account and for a host.
create index incident_evidence_account on incident_evidence (account_id, confirmed_at) where status in ('gathering', 'gathered');
create index incident_evidence_host on incident_evidence (host, confirmed_at) where status in ('gathering', 'gathered');
create index incident_evidence_shared on incident_evidence (shared_with) where shared_with is not null;
create index incident_evidence_age on incident_evidence (confirmed_at);

-- The facts of the newest good check that was reported in full, by location.
create table monitor_baselines (
  monitor_id bigint not null references monitors on delete cascade,
  location text not null,
  good_at timestamptz not null,
  -- The target as it was then: facts about another one are no baseline.
  target text not null,
  -- Address that the check connected to; null: it connected to none.
  address text,
  -- JSON of Facts (evidence/facts.ts).
  facts text not null,
  primary key (monitor_id, location)
);

-- A mail about an outage waits a moment for its evidence.
alter table deliveries drop constraint deliveries_held_by_check;
alter table deliveries add constraint deliveries_held_by_check check (held_by in ('window', 'flapping', 'evidence'));
create index events_outage on events (incident_id) where type = 'monitor.down';
