-- Who made an invite: it is worth what its maker may do when it is used.

alter table one_time_links
  -- invite: the user who made it; null: the operator, or nobody knows. Without a foreign key: an invite of one who is erased
  -- must not become one of nobody.
  add column made_by bigint,
  -- invite: the operator made it. false also for those that a replica of the older release makes.
  add column by_operator boolean not null default false;

-- Those of before are in the log of changes.
update one_time_links as l
set made_by = case c.actor_type when 'member' then c.actor_id end, by_operator = c.actor_type = 'operator'
from account_changes as c
where l.purpose = 'invite' and c.account_id = l.account_id and c.resource = 'invite' and c.resource_id = l.id
  and c.action = 'created';
