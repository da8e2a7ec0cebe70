-- Devices on which a user has signed in. A cookie names one, signed; failed sign-ins on it are counted apart from those of
-- strangers, who can then not keep its user out.
create table devices (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  created_at timestamptz not null,
  -- The last time that a session began on it.
  used_at timestamptz not null
);

create index devices_user on devices (user_id, used_at);
create index devices_used on devices (used_at);

-- null: it gets one at its next request. Without a foreign key: a session gets no second device when its first one has
-- ended, because each has failures of its own.
alter table sessions add column device_id bigint;
