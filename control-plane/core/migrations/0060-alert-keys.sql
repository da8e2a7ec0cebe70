-- Keys of alerts at providers such as PagerDuty begin with the id of the installation, so that two installations do not merge
-- and resolve each other's alerts. Alerts that are open keep the key of the release before.

-- Until when events had keys of the release before; null: the subscription is newer, and has never had one.
alter table webhooks add column old_keys_until timestamptz;

update webhooks set old_keys_until = now()
where format in ('pagerduty', 'opsgenie', 'jsm', 'incident-io', 'alertmanager');

-- Alerts that were open then. Later events have their key until one has resolved them.
create table old_alert_keys (
  monitor_id bigint not null references monitors on delete cascade,
  key text not null,
  -- Time of the event that resolved it; null: none yet.
  ended_at timestamptz,
  primary key (monitor_id, key)
);

-- Alerts of monitors, by their states (state/encoding.ts). The end of an outage also resolves the slowness before it. A state is
-- no text of users, and in its strings each quotation mark has a backslash before it.
insert into old_alert_keys (monitor_id, key)
select s.monitor_id, s.monitor_id || open.suffix
from monitor_states as s
join monitors as m on m.id = s.monitor_id
cross join lateral (
  values
    ('', s.status = 'down' and s.state !~ '"held":\['),
    ('-degraded', s.status = 'down' or s.state like '%"degraded_reported":true%'),
    ('-unwatched', s.state ~ '"unwatched":\[\d+,1\]')
) as open (suffix, is_open)
where open.is_open
  and exists (select from webhooks as w where w.account_id = m.account_id and w.old_keys_until is not null);

-- Alerts about certificates, by what monitors were informed of (expiry/notices/memory.ts). Characters that PostgreSQL does not
-- read in JSON are replaced.
insert into old_alert_keys (monitor_id, key)
select distinct l.monitor_id, format('%s-%s-%s', l.monitor_id, open.kind, left(regexp_replace(n.notice ->> 'identity', '[^0-9A-Za-z]', '', 'g'), 16))
from expiry_links as l
join monitors as m on m.id = l.monitor_id
cross join lateral json_array_elements(
  regexp_replace(l.memory, '(?<!\\)((?:\\\\)*)\\u(?:d[89a-f][0-9a-f]{2}|0000)', '\1\\ufffd', 'gi')::json
) as n (notice)
cross join lateral (
  values ('expiring', n.notice ->> 'threshold' is not null), ('expired', n.notice ->> 'expired' = 'true')
) as open (kind, is_open)
where l.kind = 'certificate' and open.is_open
  and exists (select from webhooks as w where w.account_id = m.account_id and w.old_keys_until is not null);
