-- Recipients of alerts can unsubscribe.

-- When it unsubscribed; null: it gets what it has confirmed. An account cannot undo it.
alter table mail_recipients add column unsubscribed_at timestamptz;
-- It unsubscribed and then asked for a new confirmation mail itself. Only that confirmation undoes the unsubscription.
alter table mail_recipients add column asks_again boolean not null default false;
