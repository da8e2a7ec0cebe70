-- The replica whose claim holds a slot (replicas.id), so that the checks of a replica that was killed are repeated at once
-- and not when its claims end. null: a release before this one claimed it, or nobody has.

alter table monitor_slots add column claimed_by text;
