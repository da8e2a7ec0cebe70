-- Visitors of status pages who are mailed about incidents and maintenance.

create table status_page_subscribers (
  id bigint generated always as identity primary key,
  page_id bigint not null references status_pages on delete cascade,
  email text not null,
  -- When its owner was last asked to confirm it.
  asked_at timestamptz not null,
  -- null: the owner has not confirmed it; nothing else is mailed.
  confirmed_at timestamptz
);

create unique index status_page_subscribers_email on status_page_subscribers (page_id, lower(email));
-- Limits of the mails that ask for a confirmation.
create index status_page_subscribers_asked on status_page_subscribers (lower(email), asked_at);
create index status_page_subscribers_unconfirmed on status_page_subscribers (asked_at) where confirmed_at is null;

alter table deliveries drop constraint deliveries_channel_check;
alter table deliveries add constraint deliveries_channel_check check (channel in ('mail', 'page', 'webhook'));
