-- When visitors were informed of a public window.
alter table maintenance add column announced_at timestamptz;
update maintenance set announced_at = created_at where is_announced;
