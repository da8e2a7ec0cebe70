-- A receiver that answers 410 gets nothing more.
alter table webhooks drop constraint webhooks_inactive_reason_check;
alter table webhooks add constraint webhooks_inactive_reason_check
  check (inactive_reason in ('plan_limit', 'failing', 'gone'));

-- Receivers that have failed for long.
create index failing_receivers_since on failing_receivers (channel, failing_since);
