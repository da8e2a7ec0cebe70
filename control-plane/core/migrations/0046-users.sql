-- People who sign in to the dashboard: users, the accounts whose members they are, their sessions, one-time links and mails.

create table users (
  id bigint generated always as identity primary key,
  email text not null,
  -- argon2id in the PHC string format; the password itself is stored nowhere.
  password_hash text not null,
  timezone text not null default 'UTC',
  is_operator boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create unique index users_email on users (lower(email));

create table members (
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  created_at timestamptz not null,
  primary key (account_id, user_id)
);

create index members_user on members (user_id, account_id);

create table sessions (
  id bigint generated always as identity primary key,
  -- SHA-256 of the cookie's value.
  digest bytea not null unique check (octet_length(digest) = 32),
  user_id bigint not null,
  account_id bigint not null,
  created_at timestamptz not null,
  -- The last time that the password was given: secrets ask for a recent one.
  signed_in_at timestamptz not null,
  used_at timestamptz not null,
  address text not null,
  user_agent text not null,
  -- A session is one of a member: it ends with the membership.
  foreign key (account_id, user_id) references members on delete cascade
);

create index sessions_member on sessions (user_id, account_id);
create index sessions_used on sessions (used_at);

create table one_time_links (
  id bigint generated always as identity primary key,
  -- SHA-256 of the token.
  digest bytea not null unique check (octet_length(digest) = 32),
  purpose text not null check (purpose in ('start', 'reset', 'invite')),
  -- start: the account that is taken over; invite: the account that is joined, null for a new one.
  account_id bigint references accounts on delete cascade,
  -- reset: whose password.
  user_id bigint references users on delete cascade,
  -- invite: who can use it; null: anybody who has the link.
  email text,
  role text check (role in ('owner', 'editor', 'viewer')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index one_time_links_expiry on one_time_links (expires_at);
create index one_time_links_account on one_time_links (account_id) where account_id is not null;
create index one_time_links_user on one_time_links (user_id) where user_id is not null;

-- Sign-ins that failed or are under way, to limit guesses by user and by client address over all replicas.
create table sign_in_attempts (
  id bigint generated always as identity primary key,
  -- SHA-256 of what is limited.
  subject bytea not null check (octet_length(subject) = 32),
  attempted_at timestamptz not null
);

create index sign_in_attempts_subject on sign_in_attempts (subject, attempted_at);
create index sign_in_attempts_time on sign_in_attempts (attempted_at);

-- Mails to people about their access: asked for by a request, written and sent later, so that the request answers in the same
-- way and time whether or not the address is known. A row stays for a day after its end: it counts against the mails of its
-- recipient.

create table requested_mails (
  id bigint generated always as identity primary key,
  purpose text not null check (purpose in ('reset', 'sign_up', 'invite')),
  -- Digest of the address with the master key.
  recipient bytea not null check (octet_length(recipient) = 32),
  -- The address, and for an invite the token of its link, encrypted. null: the mail was sent, or is not needed any more.
  sealed bytea,
  -- invite: its link, without which the mail is not sent.
  link_id bigint references one_time_links on delete cascade,
  requested_at timestamptz not null,
  due_at timestamptz not null,
  attempts integer not null default 0,
  -- When it began to count against the mails of its recipient.
  counted_at timestamptz
);

create index requested_mails_due on requested_mails (due_at) where sealed is not null;
create index requested_mails_counted on requested_mails (recipient, counted_at) where counted_at is not null;
create index requested_mails_age on requested_mails (requested_at);
create index requested_mails_link on requested_mails (link_id) where link_id is not null;
