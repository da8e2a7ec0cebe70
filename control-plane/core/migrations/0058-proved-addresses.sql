-- Users whose address nobody has proved, and invites without an address, which are mailed to the address that somebody gives.

-- When a user proved the address by a link that only its owner gets; null: it was only typed. All users of before count as
-- proved, and so do those whom a replica of the release before makes.
alter table users add column proved_at timestamptz default now();

-- An invite without an address as it was mailed to one: its link is used with this address alone, and uses the invite up.
create table invite_addresses (
  -- SHA-256 of the token in the mail.
  digest bytea primary key check (octet_length(digest) = 32),
  invite_id bigint not null references one_time_links on delete cascade,
  email text not null,
  created_at timestamptz not null
);

create index invite_addresses_invite on invite_addresses (invite_id);
