-- What the newest good check of a slot found, so that the evidence of an outage is compared with the check before it. The
-- row of a slot is written with every check anyway, so this costs no statement.

alter table monitor_slots
  -- When the newest good check began; null: none yet.
  add column good_at timestamptz,
  -- What it found (monitors/snapshots/good-check.ts); null: none yet.
  add column good text;
