-- Attempts by day: a day after the retention is dropped, which gives its space back. Without a foreign key, whose creation
-- and removal would lock deliveries; an attempt that outlives its delivery goes with its day.
alter table delivery_attempts rename to old_attempts;
alter index delivery_attempts_pkey rename to old_attempts_pkey;

create table delivery_attempts (
  delivery_id bigint not null,
  attempt integer not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  response_code integer,
  error_code text,
  error_message text,
  response_headers text,
  response_body text,
  truncated boolean,
  primary key (delivery_id, attempt, started_at)
) partition by range (started_at);

create table delivery_attempts_default partition of delivery_attempts default;

insert into delivery_attempts
select delivery_id, attempt, started_at, ended_at, response_code, error_code, error_message, response_headers, response_body,
  truncated
from old_attempts;

drop table old_attempts;
