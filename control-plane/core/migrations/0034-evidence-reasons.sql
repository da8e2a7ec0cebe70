-- Why nothing was gathered about an outage, for the API; null: something was, or it was before this release.
alter table incident_evidence add column reason text;
-- Since then cause_key is equal only for outages of monitors with the same target and the same cause.
