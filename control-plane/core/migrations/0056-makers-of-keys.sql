-- Who made a key, and when it was used last, so that it can go with its maker.

alter table keys
  -- The user who made it; null: the operator, or nobody knows. Without a foreign key: a key outlives its maker.
  add column made_by bigint,
  -- Noted every few minutes; null: not since this is noted.
  add column used_at timestamptz;

-- Those of before are in the log of changes.
update keys as k set made_by = c.actor_id
from account_changes as c
where c.account_id = k.account_id and c.resource = 'key' and c.resource_id = k.id and c.action = 'created'
  and c.actor_type = 'member';

-- Links in mails that were made until then show nothing any more: the recipient was a member, and is none. null: none has
-- ended.
alter table mail_recipients add column links_ended_at timestamptz;
