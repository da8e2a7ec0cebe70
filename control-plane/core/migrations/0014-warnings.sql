-- What is wrong with the service itself, for its operator.

-- One row a cause: replicas share it, so that each warning begins and ends once, whoever notices.
create table warnings (
  code text not null,
  -- What the code is about, such as a region; empty: the whole service.
  subject text not null,
  message text not null,
  -- When the cause was first found.
  since timestamptz not null,
  -- When it was reported to the operator; null: not yet, because the cause may end by itself.
  raised_at timestamptz,
  -- The monitors it affects: how many, and the first of them.
  monitor_count integer not null,
  monitor_ids bigint[] not null,
  primary key (code, subject)
);

-- Finds the newest checks that found nothing out. Other checks, which are nearly all, are not in it.
create index checks_unknown on checks (checked_at) where status = 3;
