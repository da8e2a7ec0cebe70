-- A user may request several checks of a monitor a minute: the times of the requests of the last minute.
alter table monitors add column runs_requested_at timestamptz[] not null default '{}';
alter table monitors drop column run_requested_at;
