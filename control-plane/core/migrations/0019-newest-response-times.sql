-- What the newest check of a slot measured, so that a scrape of all monitors of an account reads no history.

alter table monitor_slots
  -- Of the newest check; null: no answer.
  add column response_ms integer,
  -- Its parts (monitors/snapshots/phases.ts); null: not measured.
  add column phases text;
