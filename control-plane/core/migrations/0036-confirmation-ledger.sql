-- Mails that ask the owner of an address for a confirmation, for their limits.

-- One row a mail. Without foreign keys: it outlives pages, subscriptions, monitors and accounts, whose deletion would
-- otherwise make room for more mail. Rows are deleted after 48 hours.
create table confirmation_ledger (
  -- Keyed digest (HMAC-SHA-256) of the address in lower case, so that the table is no list of addresses.
  recipient bytea not null check (octet_length(recipient) = 32),
  account_id bigint not null,
  -- Slug of the page for a subscription; null for the alerts of an account.
  page text,
  sent_at timestamptz not null
);

create index confirmation_ledger_recipient on confirmation_ledger (recipient, sent_at);
create index confirmation_ledger_account on confirmation_ledger (account_id, sent_at);
create index confirmation_ledger_age on confirmation_ledger (sent_at);

-- The limits did not allow its mail: it is looked at again then. null: at once.
alter table mail_recipients add column confirmation_due_at timestamptz;
-- The limits no longer count these rows.
drop index mail_confirmations_email;
drop index mail_confirmations_account;
create index mail_confirmations_recipient on mail_confirmations (recipient_id, sent_at);
