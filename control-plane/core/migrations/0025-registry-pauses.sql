-- Registries are asked one question at a time over all replicas, and none for a while after one that was refused or not
-- answered. Many top-level domains can have one registry.

create table expiry_registries (
  -- Host of its RDAP or WHOIS service; a top-level domain as long as its service is not known.
  registry text primary key,
  -- Of a top-level domain: the service that answers for it. null: not known, or the row is a service.
  served_by text,
  -- The question that is being asked; 0: none.
  lease bigint not null default 0,
  lease_ends_at timestamptz,
  -- Questions in a row that were refused or not answered. It is not asked before paused_until.
  refusals integer not null default 0,
  paused_until timestamptz
);

insert into expiry_registries (registry)
select distinct registry from expiry_targets where registry is not null order by registry;

alter table expiry_targets
  add foreign key (registry) references expiry_registries,
  -- When notices are decided next by what is known, even if the registry cannot be asked; null: there is nothing to decide.
  add column notice_at timestamptz,
  -- What the last failed look said, for people.
  add column error_message text,
  -- Time of the first of the failed looks in a row; null: the last one did not fail.
  add column failed_since timestamptz,
  -- When a registry first said that a domain has lapsed whose registration should last; null: it did not, or it was believed.
  add column doubted_at timestamptz;

-- The time is not known: the next failure is counted from now on.
update expiry_targets set failed_since = now() where failures > 0;

-- To find the target of a registry that is due first.
create index expiry_targets_registry on expiry_targets (registry, next_at) where registry is not null;
