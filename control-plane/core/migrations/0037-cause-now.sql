-- The newest cause of an outage, where another fault followed the first; null: the cause has not changed.

alter table incidents add column cause_now_code text, add column cause_now_message text;
