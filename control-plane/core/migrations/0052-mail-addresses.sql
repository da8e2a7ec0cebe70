-- The normal form of mail addresses, by which they are found and unique: `email` keeps the spelling as typed, for the mail
-- itself. What is stored has A-labels as its domain, so only ASCII letters differ. lower() is not used for it: it changes
-- other letters too, and not as JavaScript does. An address from before that has no normal form, or a domain in other
-- letters, keeps its row and is found by its text.
create function mail_address(email text) returns text language sql immutable strict parallel safe
  return translate(email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

alter table users add column mail_address text generated always as (mail_address(email)) stored;
alter table accounts add column mail_address text generated always as (mail_address(email)) stored;
alter table one_time_links add column mail_address text generated always as (mail_address(email)) stored;
alter table mail_recipients add column mail_address text generated always as (mail_address(email)) stored;
alter table status_page_subscribers add column mail_address text generated always as (mail_address(email)) stored;

-- What was unique in lower case is so in ASCII lower case. The indexes on lower(email) stay for replicas of the release
-- before this one, whose inserts name them.
create unique index users_mail_address on users (mail_address);
create unique index accounts_mail_address on accounts (mail_address);
create unique index mail_recipients_mail_address on mail_recipients (account_id, mail_address);
create unique index status_page_subscribers_mail_address on status_page_subscribers (page_id, mail_address);

-- The limits of confirmation mails have their own table.
drop index status_page_subscribers_asked;
