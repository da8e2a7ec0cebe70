-- The ledger of confirmations becomes that of all mail which strangers ask for, or which goes to addresses that have not
-- confirmed: also new passwords, sign-ups and invites.

-- null: a stranger asked for it.
alter table confirmation_ledger alter column account_id drop not null;
alter table confirmation_ledger
  add column purpose text not null default 'confirmation' check (purpose in ('confirmation', 'reset', 'sign_up', 'invite')),
  -- Keyed digests of who asked for a new password or a sign-up: the client's address (IPv6: its /64), and its /24 or /48.
  add column caller bytea check (octet_length(caller) = 32),
  add column network bytea check (octet_length(network) = 32);

create index confirmation_ledger_caller on confirmation_ledger (caller, sent_at) where caller is not null;
create index confirmation_ledger_network on confirmation_ledger (network, sent_at) where network is not null;
