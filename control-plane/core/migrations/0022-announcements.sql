-- What visitors of status pages are mailed about: each public incident and maintenance window once, also if it becomes
-- public later or repeatedly; and the impact of an incident that is planned work.

-- Whether visitors were informed that it exists. A monitor's outage has the mails of its monitor.
alter table incidents add column is_announced boolean not null default false;
update incidents set is_announced = true where is_public or monitor_id is not null;

alter table incidents drop constraint incidents_impact_check;
alter table incidents add constraint incidents_impact_check
  check (impact in ('none', 'minor', 'major', 'critical', 'maintenance'));

alter table maintenance add column is_announced boolean not null default false;
update maintenance set is_announced = true where is_public;
