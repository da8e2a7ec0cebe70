-- The monitors that a composite follows. They are in its settings too, in the order of its user; here they are found from
-- the other side, and a deleted monitor leaves.
create table composite_members (
  composite_id bigint not null references monitors on delete cascade,
  member_id bigint not null references monitors on delete cascade,
  primary key (composite_id, member_id)
);

create index composite_members_member on composite_members (member_id);

-- Composites to judge again, because the status of one of their monitors has changed. Rows are only added and removed,
-- so that the transactions of two monitors of one composite do not wait for each other; they name no table for the same
-- reason.
create table composite_wakes (
  id bigint generated always as identity primary key,
  composite_id bigint not null
);
