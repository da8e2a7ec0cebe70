-- On-demand calls at one target (registrable domain or address), over all accounts and replicas: the newest minute, what
-- it has admitted, and what the last statement granted. Of worth for a minute only, so a crash may empty it.
create unlogged table target_counts (
  target text primary key,
  minute integer not null,
  -- Of callers with an account, and of those without.
  named integer not null,
  anonymous integer not null,
  named_granted integer not null,
  anonymous_granted integer not null
) with (fillfactor = 50);
